-- Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results. The
-- URLs are the first argument with the numbers from 1 to COUNT at the end.
--
-- usage: cost.lua URL COUNT

local netlib = require("netlib")

local texts = {}
for number = 1, tonumber(arg[2]) do texts[number] = ("%s%d"):format(arg[1], number) end

for _ in io.lines() do
    local sum = 0
    for _, text in ipairs(texts) do
        local url = netlib.parse_url(text)
        sum = sum + #url:scheme() + #url:host() + url:port() + #url:path() + #url:query()
        url:close()
    end
    print(("%d"):format(sum))
    io.flush()
end
