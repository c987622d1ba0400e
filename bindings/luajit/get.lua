-- Downloads a URL with the recommended settings, and writes the body to standard output.
--
-- usage: luajit get.lua URL
local netlib = require("netlib")

local function get(text)
    local limit = netlib.Limit.new(120) -- bounds all attempts, and the waits between them
    local context = netlib.TlsContext.new()
    local options = netlib.ConnectOptions.new():timeout(20)
    local headers = netlib.Headers.new({ connection = "close" })
    local url = netlib.parse_url_strict(text)
    local attempts = netlib.Attempts.new(netlib.Retry.recommended(), "GET", url, headers, false, limit)
    local status
    repeat
        local stream
        local good, err = pcall(function()
            stream = netlib.connect(attempts:url(), context, options, limit)
            stream:send_all(attempts:request(netlib.REQUEST_FORM_ORIGIN):to_wire())
            local response = stream:response(attempts:method())
            status = attempts:next(response) -- waits before a retry
            if status == netlib.OK then
                for piece in stream:pieces(response) do io.write(piece) end
            end
        end)
        if stream then stream:close() end
        if not good then
            if not netlib.Error.is(err) then error(err, 0) end
            status = attempts:next(nil, err) -- waits before a retry, or raises the error
        end
    until status ~= netlib.SEND_AGAIN
end

if #arg ~= 1 then
    io.stderr:write("usage: luajit get.lua URL\n")
    os.exit(2)
end
local good, err = pcall(get, arg[1])
if not good then
    io.stderr:write(netlib.Error.is(err) and err:report() or tostring(err), "\n")
    os.exit(1)
end
