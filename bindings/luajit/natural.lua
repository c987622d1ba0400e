-- natural.lua: the methods that are written by hand.

rt.define_ctx_free()
rt.generated()

local Url, Stream, Limit = class.Url, class.Stream, class.Limit

Url.__tostring = Url.to_string

-- ---- Limits.

-- Makes a limit. A wait with this limit ends when a signal handler has run: Ctrl-C raises the error "interrupted!" of the
-- program luajit, as it does in Lua code. Any other signal handler ends the wait with NETLIB_INTERRUPTED. The interrupt
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

-- ---- The retry loop.

local Attempt = {}
Attempt.__index = Attempt

-- The request of this attempt.
function Attempt.request(self, form)
    return class.Request.new(self.method, self.url, self.headers, form or netlib.REQUEST_FORM_ORIGIN)
end

local function decide(self, response, err)
    self.ended, self.continues, self.decision = true, false, nil
    local decision = self.retry:decide(self.method, self.url, response, err, self.limit)
    self.decision = decision
    if decision:action() == netlib.ACTION_RETURN_RESPONSE then return true end
    if self.headers then self.headers = decision:headers(self.headers) end
    self.method, self.url, self.retry = decision:method(), decision:url(), decision:retry()
    self.sends_body = decision:resend_body()
    decision:sleep(self.limit)
    self.ended, self.continues = false, true
    return false
end

-- Returns true if the response is the final one. Otherwise prepares and awaits the next attempt, for a retry or a
-- redirect, and returns false.
function Attempt.accept(self, response) return decide(self, response, nil) end

-- Prepares and awaits the next attempt, or raises the error with which the retries end. An error that netlib did not
-- raise is an error of the program, and is raised again; so is an error after `accept` has returned true or raised one.
function Attempt.failed(self, err)
    if self.ended or not netlib.Error.is(err) then error(err, 0) end
    decide(self, nil, err)
end

-- Calls a function with this attempt, and passes its error to `failed`.
function Attempt.try(self, exchange)
    local good, err = pcall(exchange, self)
    if not good then self:failed(err) end
end

-- The attempts of a request: the first one, and then the retries and redirects on which the Retry decides, by default the
-- recommended one. `options` may have the fields `headers`, `retry` and `limit`.
function netlib.attempts(method, url, options)
    options = options or {}
    local headers = options.headers
    if headers and not headers.class_name then headers = class.Headers.new(headers) end
    local attempt = setmetatable({
        method = method, headers = headers, limit = options.limit, sends_body = true, number = 0, continues = true,
        url = type(url) == "string" and netlib.parse_url_strict(url) or url,
        retry = options.retry or class.Retry.recommended(),
    }, Attempt)
    return function()
        if not attempt.continues then return nil end
        attempt.continues, attempt.number = false, attempt.number + 1
        return attempt
    end
end

netlib.held_count = rt.held_count
return netlib
