-- Downloads a URL with the recommended settings, and writes the body to standard output.
--
-- usage: luajit get.lua URL
local netlib = require("netlib")

local limit = netlib.Limit.new(120) -- bounds all attempts, and the waits between them
local context = netlib.TlsContext.new()
local options = netlib.ConnectOptions.new():timeout(20)
for attempt in netlib.attempts("GET", arg[1], { headers = { connection = "close" }, limit = limit }) do
    attempt:try(function()
        local stream = netlib.connect(attempt.url, context, options, limit)
        stream:send_all(attempt:request():to_wire())
        local response = stream:response(attempt.method)
        if attempt:accept(response) then
            for piece in stream:pieces(response) do io.write(piece) end
        end
        stream:close()
    end)
end
