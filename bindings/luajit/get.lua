-- Downloads a URL with the recommended settings, and writes the body to standard output.
--
-- usage: luajit get.lua URL
local netlib = require("netlib")

local function get(url)
    local limit = netlib.Limit.new(120) -- bounds all attempts, and the waits between them
    local context = netlib.TlsContext.new()
    local options = netlib.ConnectOptions.new():timeout(20)
    for attempt in netlib.attempts("GET", url, { headers = { connection = "close" }, limit = limit }) do
        local stream
        attempt:try(function() -- raises an error if it is not retried
            stream = netlib.connect(attempt.url, context, options, limit)
            stream:send_all(attempt:request():to_wire())
            local response = stream:response(attempt.method)
            if attempt:accept(response) then
                for piece in stream:pieces(response) do io.write(piece) end
            end
        end)
        if stream then stream:close() end
    end
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
