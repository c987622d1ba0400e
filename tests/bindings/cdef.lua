-- Loads netlib.cdef.h and the library with LuaJIT, and prints the value of each constant whose name is a line of a file.
--
-- usage: cdef.lua netlib.cdef.h LIBRARY NAMES

local ffi = require("ffi")
local declarations, library, names = arg[1], arg[2], arg[3]
ffi.cdef(assert(io.open(declarations)):read("*a"))
local lib = ffi.load(library)

for name in io.lines(names) do
    print(name .. " " .. string.format("%d", tonumber(lib[name])))
end
local url, err = ffi.new("netlib_url *[1]"), ffi.new("netlib_error *[1]")
local status = lib.netlib_parse_url("https://user@example.com/path", lib.netlib_nts(), url, err)
print("host " .. status .. " " .. ffi.string(lib.netlib_url_host(url[0], nil)))
lib.netlib_url_free(url[0])
status = lib.netlib_parse_url("http://[", lib.netlib_nts(), url, err)
print("error " .. status .. " " .. tonumber(lib.netlib_error_offset(err[0])))
lib.netlib_error_free(err[0])
