-- The steps of bindings/scenario.md.
--
-- usage: scenario.lua SERVER CERTIFICATES TAG [STEP…]

local ffi = require("ffi")
local netlib = require("netlib")

local SERVER, CERTIFICATES, TAG = arg[1], arg[2], arg[3]
local PORTS = {}
for line in io.lines(SERVER .. "/ports") do
    local name, port = line:match("(.-)=(.*)")
    PORTS[name] = port
end

ffi.cdef([[
    struct pollfd { int fd; short events; short revents; };
    int poll(struct pollfd *fds, unsigned long count, int milliseconds);
    int close(int fd);
    int fork(void);
    int getpid(void);
    int pipe(int *fds);
    long read(int fd, void *buf, size_t len);
    long write(int fd, const void *buf, size_t len);
    int waitpid(int pid, int *status, int options);
    void _exit(int status);
    void (*signal(int number, void (*handler)(int)))(int);
    int abs(int);
    unsigned int ualarm(unsigned int microseconds, unsigned int interval);
]])

local function read_file(path)
    local file = io.open(path, "rb")
    if not file then return "" end
    local text = file:read("*a")
    file:close()
    return text
end

local function url_of(port, path, host, tag)
    local scheme = (port == "http" or port == "mute") and "http" or "https"
    return netlib.parse_url_strict(scheme .. "://" .. (host or "localhost") .. ":" .. PORTS[port] .. path .. "?" .. (tag or TAG))
end

local function tls_options()
    return netlib.TlsOptions.new():add_ca_file(SERVER .. "/ca.pem")
end

-- Sends one request on a new connection, and returns the response with its body.
local function exchange(request, method, url, how)
    local context = how.context or netlib.TlsContext.new(tls_options())
    local stream = netlib.connect(url, context, how.options, how.limit)
    stream:send_all(request:to_wire())
    if how.body then
        local piece = how.body:read(4)
        while piece do
            stream:send_all(piece)
            piece = how.body:read(4)
        end
    end
    local response = stream:response(method)
    local body = stream:body(response):gsub("\n$", "")
    stream:close()
    return response, body
end

local function get(port, path, how)
    how = how or {}
    local url = url_of(port, path, how.host, how.tag)
    local request = netlib.Request.new("GET", url, netlib.Headers.new({ connection = "close" }), netlib.REQUEST_FORM_ORIGIN)
    local response, body = exchange(request, "GET", url, how)
    return response:status(), body
end

local function waited(waits)
    for at, seconds in ipairs(waits) do waits[at] = ("%.3f"):format(seconds) end
    return #waits == 0 and "-" or table.concat(waits, ",")
end

-- Repeats a request as the recommended Retry decides, without real waits. Returns a table with the results; if the
-- retries fail, its field `error` is set.
local function download(port, path, method, fields, body)
    local waits, done = {}, {}
    local retry = netlib.Retry.new(netlib.RetryOptions.new_recommended()
        :sleep(function(seconds) waits[#waits + 1] = seconds end)
        :random(function() return 0.5 end))
    local all = { connection = "close" }
    for name, value in pairs(fields or {}) do all[name] = value end
    local source = body and netlib.Body.from_memory(body)
    local start = source and netlib.set_file_position(source, netlib.POSITION_NONE)
    local context = netlib.TlsContext.new(tls_options())
    local headers = netlib.Headers.new(all)
    local attempts = netlib.Attempts.new(retry, method or "GET", url_of(port, path), headers, body ~= nil)
    local function attempt()
        if source then netlib.rewind_body(source, start) end
        local request, how = attempts:request(netlib.REQUEST_FORM_ORIGIN), { context = context }
        if attempts:sends_body() then how.body = source end
        local response, text = exchange(request, attempts:method(), done.url, how)
        done.status, done.body = response:status(), text
        return attempts:next(response)
    end
    local good, result
    done.number = 0
    repeat
        done.number, done.url = done.number + 1, attempts:url()
        good, result = pcall(attempt)
        if netlib.Error.is(result) then good, result = pcall(attempts.next, attempts, nil, result) end
    until result ~= netlib.SEND_AGAIN
    if not good then done.error = result end
    done.waited = waited(waits)
    return done
end

local function downloaded(done, line)
    if done.error then return tostring(done.error) end
    return ("%d %d %s %s"):format(done.status, done.number, done.waited, line or done.body:match("[^\n]*"))
end

local function error_of(call, ...)
    local good, err = pcall(call, ...)
    assert(not good, "the call succeeded")
    assert(netlib.Error.is(err), err)
    return err
end

local steps, order = {}, {}
local function step(name, run)
    steps[name] = run
    order[#order + 1] = name
end

step("version", function() return netlib.version():match("^%d+%.%d+") end)

step("version-refused", function()
    local path = package.searchpath("netlib", package.path)
    local other = read_file(path):gsub('rt%.load%("0%.1%.%d+"%)', 'rt.load("0.99.0")')
    local _, message = pcall(assert(loadstring(other, "@" .. path)))
    local names_both = tostring(message):find("0.99", 1, true) and message:find(netlib.version(), 1, true)
    return names_both and "refused" or tostring(message)
end)

step("url-parse", function()
    local url = netlib.parse_url("HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f")
    local parts = { url:scheme(), url:auth(), url:host(), url:port(), url:path(), url:query(), url:fragment(), tostring(url) }
    return table.concat(parts, "|")
end)

step("url-resolve", function()
    local base, results = netlib.parse_url("http://a/b/c/d;p?q"), {}
    for at, reference in ipairs({ "g", "../g", "//g", "?y" }) do results[at] = tostring(base:resolve(reference)) end
    return table.concat(results, " ")
end)

step("url-error", function()
    local err = error_of(netlib.parse_url_strict, "http://exa mple.com/")
    return err.name .. " " .. err.offset .. " " .. tostring(err)
end)

step("url-nul", function()
    local err = error_of(netlib.parse_url, "http://a.example\0.b/")
    return err.name .. " " .. err.offset .. " " .. tostring(err)
end)

step("host-nul", function()
    local good, err = pcall(netlib.create_connection, "127.0.0.1\0.b", tonumber(PORTS.http))
    if good then return "connected" end
    return netlib.Error.is(err) and err.name or err:find("contains a NUL") and "refused" or err
end)

step("truth-values", function()
    local url = netlib.parse_url("https://example.com:8443/")
    local retry = netlib.Retry.new(netlib.RetryOptions.new():raise_on_status(false):raise_on_redirect(true))
    return table.concat({
        tostring(url:same_origin(netlib.parse_url("https://example.com:8443/x"))),
        tostring(url:same_origin(netlib.parse_url("https://example.com/"))),
        tostring(retry:raise_on_status()), tostring(retry:raise_on_redirect()),
    }, " ")
end)

step("retry-reset", function() return downloaded(download("https", "/reset-after-head")) end)
step("retry-after", function() return downloaded(download("https", "/busy-once")) end)

step("retry-redirect", function()
    local done = download("https", "/redirect-other-origin", "GET", { authorization = "Basic dTpw", ["x-one"] = "1" })
    local received = {}
    for name, value in ((done.body or "") .. "\n"):gmatch("([^\n:]+):%s*([^\n]-)\r?\n") do received[name:lower()] = value end
    local function header(name) return name .. "=" .. (received[name] or "absent") end
    return downloaded(done, done.url:path() .. " " .. header("authorization") .. " " .. header("x-one"))
end)

local function failed_download(path)
    local done = download("https", path)
    local messages = { tostring(done.error) }
    for _, cause in ipairs(done.error.causes) do messages[#messages + 1] = tostring(cause) end
    return ("%s %d %s %s"):format(done.error.name, done.number, done.waited, table.concat(messages, "|"))
end

step("retry-exhausted", function() return failed_download("/hang-up") end)

step("retry-stopped", function() return failed_download("/come-back-tomorrow") end)

step("body-again", function()
    local done = download("https", "/reset-after-request", "PUT", { ["content-length"] = "10" }, "0123456789")
    return downloaded(done, done.body and done.body:match("[^\n]*$"))
end)

step("tls-get", function() return downloaded(download("https", "/hello")) end)

local function described(err)
    return ("%s %d %s|%s"):format(err.name, #err.causes, err.message, (err.advice or "-"):match("^[^:]*"))
end

local function handshake_error(port, options)
    return described(error_of(netlib.connect, url_of(port, "/"), netlib.TlsContext.new(options)))
end

step("tls-wrong-name", function() return handshake_error("wronghost", tls_options()) end)
step("tls-expired", function() return handshake_error("expired", tls_options():wall_clock(function() return 2000000000 end)) end)
step("tls-untrusted", function() return handshake_error("untrusted", tls_options()) end)

step("tls-client", function()
    local options = tls_options():identity_files(CERTIFICATES .. "/client.pem", CERTIFICATES .. "/client.key")
    return ("%d %s"):format(get("clients", "/hello", { context = netlib.TlsContext.new(options) }))
end)

step("tls-client-missing", function() return described(error_of(get, "clients", "/hello")) end)

step("tls-fingerprint", function()
    local stream = netlib.connect(url_of("https", "/"), netlib.TlsContext.new(tls_options()))
    local certificate = stream:peer_certificate(0)
    netlib.assert_fingerprint(certificate, (read_file(SERVER .. "/sha256"):gsub("%s", "")))
    return "true " .. error_of(netlib.assert_fingerprint, certificate, ("0"):rep(64)).name
end)

step("tls-pin", function()
    local context = netlib.TlsContext.new(tls_options():add_pin("sha256//" .. ("A"):rep(43) .. "="))
    return error_of(netlib.connect, url_of("https", "/"), context).name
end)

-- An event loop: each download is a coroutine, which yields the descriptor and the events for which it waits.
local POLLIN, POLLOUT = 1, 4

local function connect_without_waiting(host, port)
    local connect = netlib.Connect.new(host, port)
    while true do
        local fd, status = connect:step()
        if status == netlib.OK then return fd end
        coroutine.yield(connect:wait_fd(0), connect:wait_events(0))
    end
end

local function get_without_waiting(path)
    local url = url_of("http", path)
    local fd = connect_without_waiting(url:host(), url:port())
    local stream = netlib.Stream.new_fd(fd)
    stream:set_blocking(false)
    local headers = netlib.Headers.new({ connection = "close" })
    local wire = netlib.Request.new("GET", url, headers, netlib.REQUEST_FORM_ORIGIN):to_wire()
    while #wire > 0 do
        local written, status = stream:write(wire)
        wire = wire:sub(written + 1)
        if status ~= netlib.OK then coroutine.yield(fd, POLLOUT) end
    end
    local response, status = stream:read_response("GET")
    while status == netlib.WANT_READ do
        coroutine.yield(fd, POLLIN)
        response, status = stream:read_response("GET")
    end
    stream:close()
    ffi.C.close(fd)
    return response:status()
end

step("fifty", function()
    local running, succeeded = {}, 0
    for at = 1, 50 do
        running[at] = { thread = coroutine.create(get_without_waiting), argument = "/when-fifty-ask" }
    end
    while #running > 0 do
        local waiting = {}
        for _, item in ipairs(running) do
            local good, fd, events = coroutine.resume(item.thread, item.argument)
            assert(good, fd)
            if coroutine.status(item.thread) == "dead" then
                succeeded = succeeded + (fd == 200 and 1 or 0)
            else
                item.fd, item.events = fd, events
                waiting[#waiting + 1] = item
            end
        end
        local fds = ffi.new("struct pollfd[?]", #waiting)
        for at, item in ipairs(waiting) do fds[at - 1].fd, fds[at - 1].events = item.fd, item.events end
        if #waiting > 0 then ffi.C.poll(fds, #waiting, 10000) end
        running = waiting
    end
    return tostring(succeeded)
end)

step("deadline", function() return error_of(get, "mute", "/", { limit = netlib.Limit.new(0.05) }).name end)

-- A signal wakes the wait, and the interrupt check cancels the limit.
step("cancel", function()
    local limit
    local function check()
        limit:cancel()
        return netlib.INTERRUPT_CONTINUE
    end
    jit.off(check)
    limit = netlib.Limit.new_interruptible(30, nil, check)
    local SIGALRM = 14
    ffi.C.signal(SIGALRM, ffi.cast("void (*)(int)", ffi.C.abs))
    ffi.C.ualarm(100000, 0)
    return error_of(get, "mute", "/", { limit = limit }).name
end)

step("callback-clock", function()
    local now = 100
    local timeout = netlib.Timeout.new(10, nil, nil)
    timeout:set_clock(function() return now end)
    timeout:start_connect()
    now = 103
    return ("%.3f"):format(timeout:read_timeout())
end)

step("callback-resolve", function()
    local hosts = {}
    local function resolve(host, port, _, addresses)
        hosts[#hosts + 1] = host
        local AF_INET = "\2\0" -- in the byte order of the machine
        addresses:add(AF_INET .. string.char(math.floor(port / 256), port % 256, 127, 0, 0, 1) .. ("\0"):rep(8))
    end
    local options = netlib.ConnectOptions.new():resolve_callback(resolve)
    local status, body = get("http", "/hello", { options = options, host = "a.test" })
    return hosts[1] .. " " .. status .. " " .. body
end)

step("callback-address", function()
    local got = {}
    local options = netlib.ConnectOptions.new():address_callback(function(_, classes)
        got[#got + 1] = classes
        return netlib.VERDICT_REFUSE
    end)
    local err = error_of(get, "https", "/hello", { options = options, host = "127.0.0.1" })
    return err.name .. " " .. got[1]
end)

step("callback-raises", function()
    local mine = { "not this address" }
    local options = netlib.ConnectOptions.new():address_callback(function() error(mine) end)
    local tag = TAG .. "-refused"
    local _, err = pcall(get, "http", "/hello", { options = options, tag = tag })
    local requests = 0
    for line in read_file(SERVER .. "/requests"):gmatch("[^\n]+") do
        if line:find(tag, 1, true) then requests = requests + 1 end
    end
    return (err == mine and "same " or "another ") .. requests
end)

step("callback-collected", function()
    local slept = {}
    local function make()
        return netlib.Retry.new(netlib.RetryOptions.new_recommended():sleep(function(seconds) slept[#slept + 1] = seconds end))
    end
    local retry = make()
    collectgarbage()
    collectgarbage()
    local response = netlib.Response.new("GET", 503, netlib.Headers.new({ ["retry-after"] = "1" }))
    retry:decide("GET", netlib.parse_url("http://localhost/"), response):sleep()
    return waited(slept)
end)

step("key-log", function()
    local path = os.tmpname()
    get("https", "/hello", { context = netlib.TlsContext.new(tls_options():keylog_file(path)) })
    local word = read_file(path):match("%S+")
    os.remove(path)
    return word
end)

step("user-data", function()
    local mine = { "the application's own failure" }
    local failure = netlib.make_error(netlib.IO, "the exchange failed", mine)
    local retry = netlib.Retry.new(netlib.RetryOptions.new():total(0))
    local raised = error_of(retry.decide, retry, "GET", netlib.parse_url("http://localhost/"), nil, failure)
    return raised:user_data() == mine and "same" or tostring(raised)
end)

local function resident()
    return tonumber(read_file("/proc/self/statm"):match("%d+ (%d+)")) * 4096
end

step("collected", function()
    local before = resident()
    for number = 1, 100000 do netlib.parse_url("http://localhost/" .. number) end
    local grown = resident() - before
    return grown < 32 * 1048576 and "bounded" or grown .. " bytes"
end)

step("fork", function()
    local stream = netlib.connect(url_of("http", "/hello"))
    local fds = ffi.new("int[2]")
    ffi.C.pipe(fds)
    local child = ffi.C.fork()
    if child == 0 then
        local _, result = pcall(function()
            return netlib.parse_url("http://hello/"):host() .. " " .. error_of(stream.read, stream, 10).name
        end)
        ffi.C.write(fds[1], tostring(result), #tostring(result))
        ffi.C._exit(0)
    end
    ffi.C.close(fds[1])
    local buffer = ffi.new("char[200]")
    local result = ffi.string(buffer, ffi.C.read(fds[0], buffer, 200))
    ffi.C.close(fds[0])
    ffi.C.waitpid(child, nil, 0)
    return result
end)

local function seconds_now()
    return netlib.current_time()
end

step("interrupt", function()
    os.execute("(sleep 0.1; kill -INT " .. ffi.C.getpid() .. ") &")
    local start = seconds_now()
    local _, err = pcall(get, "mute", "/", { limit = netlib.Limit.new_until_signal(30) })
    local seconds = seconds_now() - start
    if not tostring(err):find("interrupted!", 1, true) then return "another error: " .. tostring(err) end
    return seconds < 1 and "interrupted" or ("after %.3f s"):format(seconds)
end)

local chosen = #arg > 3 and { unpack(arg, 4) } or order
for _, name in ipairs(chosen) do
    local _, result = xpcall(steps[name], function(err)
        return netlib.Error.is(err) and err or debug.traceback(tostring(err))
    end)
    print(name .. "\t" .. tostring(result))
    io.flush()
end
