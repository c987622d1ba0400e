-- natural.lua: the methods that are written by hand.

rt.define_ctx_free()
rt.generated()

local Url, Stream, Limit = class.Url, class.Stream, class.Limit

Url.__tostring = Url.to_string

-- URLs are equal if their texts are equal.
function Url.__eq(one, other)
    return one:to_string() == other:to_string()
end

-- ---- Limits.

-- Makes a limit. A wait with this limit ends when a signal handler has run: Ctrl-C raises the error "interrupted!" of the
-- program luajit, as it does in Lua code. Any other signal handler ends the wait with netlib.INTERRUPTED. The interrupt
-- check is a C function, because a Lua function would raise "interrupted!" inside netlib. posix_spawnattr_getpgroup(3)
-- copies a number from its first argument, the ctx, to its second argument, the decision.
ffi.cdef([[
int posix_spawnattr_init(void *);
int posix_spawnattr_setpgroup(void *, int);
int posix_spawnattr_getpgroup(const void *, int *);
]])
local stop = ffi.new("uint64_t[128]") -- larger than every posix_spawnattr_t
ffi.C.posix_spawnattr_init(stop)
ffi.C.posix_spawnattr_setpgroup(stop, netlib.INTERRUPT_STOP)
function Limit.new_until_signal(seconds)
    local limit, err = ffi.new("netlib_limit *[1]"), ffi.new("netlib_error *[1]")
    local check = ffi.cast("netlib_interrupt_fn", ffi.C.posix_spawnattr_getpgroup)
    local status = C.netlib_limit_new_interruptible(rt.seconds(seconds), nil, check, stop, nil, limit, err)
    if status ~= 0 then rt.fail(status, err) end
    return rt.own(Limit, limit[0])
end

-- ---- Streams.

-- Raises an error if a call could not finish because its stream does not block. The error has another status, because
-- the status of the call is progress, and not a failure.
local function finished(status)
    local message = "a stream that does not block cannot finish this call"
    if status ~= 0 then error(netlib.make_error(netlib.INVALID_ARGUMENT, message), 0) end
end

-- Connects to the server of a URL, and makes the TLS handshake for https. Text is parsed by parse_url_strict. Without a
-- context, an https URL gets a context with the default options.
function netlib.connect(url, context, options, limit)
    if type(url) == "string" then url = netlib.parse_url_strict(url) end
    if context == nil and url:scheme() == "https" then context = class.TlsContext.new() end
    local stream, status = Stream.connect(url, context, options, limit)
    if not stream then finished(status) end
    return stream
end

-- Writes all bytes to a stream that blocks.
function Stream.send_all(self, data)
    local from = 1
    while from <= #data do
        local written, status = self:write(from == 1 and data or data:sub(from))
        finished(status)
        from = from + written
    end
end

-- Reads the response to a request from a stream that blocks.
function Stream.response(self, method)
    local response, status = self:read_response(method)
    finished(status)
    return response
end

-- The pieces of a response's body: for piece in stream:pieces(response) do … end.
function Stream.pieces(self, response)
    local decoder = class.BodyDecoder.new(response)
    return function()
        local piece, status = self:read_body(decoder, 65536)
        if status ~= netlib.END_OF_STREAM then finished(status) end
        return piece
    end
end

-- The body of a response as one string.
function Stream.body(self, response)
    local pieces = {}
    for piece in self:pieces(response) do pieces[#pieces + 1] = piece end
    return table.concat(pieces)
end

-- ---- Errors.

-- Makes an error of the application's own HTTP layer, about which a Retry can decide. `user_data` is any value, to which
-- the errors of the retries lead back.
function netlib.make_error(status, message, user_data)
    local options = class.ErrorOptions.new()
    if user_data ~= nil then options:user_data(user_data) end
    return rt.error_of(class.ErrorInfo.new(status, message, options))
end

-- The value that `make_error` got for this error, or for the first cause that has one.
function netlib.Error.user_data(self)
    local value = self.info:user_data()
    for _, cause in ipairs(self.causes) do
        if value == nil then value = cause:user_data() end
    end
    return value
end

netlib.held_count = rt.held_count
return netlib
