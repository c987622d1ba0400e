-- Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results.
--
-- usage: cost.lua URL COUNT

local netlib = require("netlib")

local text, count = arg[1], tonumber(arg[2])

for _ in io.lines() do
    local sum = 0
    for _ = 1, count do
        local url = netlib.parse_url(text)
        sum = sum + #url:scheme() + #url:host() + url:port() + #url:path() + #url:query()
        url:close()
    end
    print(("%d"):format(sum))
    io.flush()
end
