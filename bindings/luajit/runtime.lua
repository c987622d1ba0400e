--- Retry policy, time limits, URLs, headers, TLS and connecting. README.md describes this module.
--
-- bindings/luajit/build makes this file from runtime.lua, generated code, and natural.lua.
-- @module netlib

-- SPDX-License-Identifier: MIT OR Apache-2.0

local ffi = require("ffi")

local netlib = {}
local class = {} -- the classes by name, which are also fields of `netlib`
local rt = { callbacks = {} } -- the functions that generated code calls
local C

-- ---- The library.

-- The library beside this file, or in the directory where LuaRocks puts libraries, or else the library of the system.
-- Without a directory in the name of this file, only the library of the system, and never a library of the current
-- directory.
local function library()
    local name = "libnetlib.so.0.1"
    local directory = debug.getinfo(1, "S").source:match("^@(.*/)")
    for _, path in ipairs(directory and { directory, (directory:gsub("share/lua/5%.1/$", "lib/lua/5.1/")) } or {}) do
        local file = io.open(path .. name, "rb")
        if file then
            file:close()
            return path .. name
        end
    end
    return name
end

-- Loads the library. Refuses a library of another minor version, whose ABI may differ.
function rt.load(version)
    ffi.cdef("const char *netlib_version(void);")
    C = ffi.load(library())
    rt.C = C
    local loaded = ffi.string(C.netlib_version())
    if loaded:match("^%d+%.%d+") ~= version:match("^%d+%.%d+") then
        error("netlib.lua " .. version .. " needs netlib " .. version:match("^%d+%.%d+") .. ", but loaded netlib " .. loaded, 0)
    end
end

-- ---- Handles.

-- A class whose objects have these fields: `p`, the pointer, nil after close; `keep`, the objects that must live as long as
-- this one. A borrowed object has `keep`, and does not free its pointer.
function rt.class(name, free)
    local new = { class_name = name, free = free }
    new.__index = new
    function new.close(self)
        local p = self.p
        self.p = nil
        if p ~= nil and not self.is_borrowed then
            ffi.gc(p, nil)
            C[free](p)
        end
    end
    jit.off(new.close) -- may run ctx_free
    new.finalizer = function(p) C[free](p) end
    jit.off(new.finalizer)
    netlib[name] = new
    return new
end

function rt.own(of, p, keep)
    if p == nil then return nil end
    return setmetatable({ p = ffi.gc(p, of.finalizer), keep = keep }, of)
end

function rt.borrow(of, p, keep)
    if p == nil then return nil end
    return setmetatable({ p = p, keep = keep, is_borrowed = true }, of)
end

function rt.pointer(object)
    if type(object) ~= "table" or not object.class_name then
        error("expected an object of netlib, got " .. type(object), 3)
    end
    -- A borrowed object is closed when one of its lenders is closed.
    if object.is_borrowed and type(object.keep) == "table" then
        for _, lender in pairs(object.keep) do rt.error_pointer(lender) end
    end
    return object.p or error("the " .. object.class_name .. " is closed", 3)
end

function rt.optional_pointer(object)
    if object == nil then return nil end
    return rt.pointer(object)
end

-- An error as an argument: an exception or an ErrorInfo.
function rt.error_pointer(object)
    if object == nil then return nil end
    return rt.pointer(getmetatable(object) == netlib.Error and object.info or object)
end

rt.limit_pointer = rt.optional_pointer

-- Transfers a handle to netlib.
function rt.give(object)
    local p = rt.pointer(object)
    object.p = nil
    return ffi.gc(p, nil)
end

-- ---- Arguments.

local function bad(name, expected, value)
    error("bad argument '" .. name .. "' (" .. expected .. " expected, got " .. type(value) .. ")", 4)
end

-- Text or bytes with a length.
function rt.data(value, name)
    if type(value) == "string" then return value end
    if type(value) == "table" and value.to_string then return value:to_string() end
    bad(name, "string", value)
end

function rt.optional_data(value, name)
    if value == nil then return nil end
    return rt.data(value, name)
end

-- Text that ends at its NUL. Refuses text with a NUL, because C would read only the text before the NUL.
function rt.text(value, name)
    if type(value) ~= "string" then bad(name, "string", value) end
    if value:find("\0", 1, true) then error("bad argument '" .. name .. "' (the text contains a NUL)", 3) end
    return value
end

function rt.optional_text(value, name)
    if value == nil then return nil end
    return rt.text(value, name)
end

function rt.truth(value, name)
    if type(value) ~= "boolean" then bad(name, "boolean", value) end
    return value and 1 or 0
end

function rt.seconds(value)
    if value == nil then return math.huge end
    return value
end

local double_cell, int32_cell = ffi.typeof("double[1]"), ffi.typeof("int32_t[?]")
local texts_array, chars = ffi.typeof("const char *[?]"), ffi.typeof("char[?]")

function rt.number_or_null(value)
    if value == nil then return nil end
    return double_cell({ value })
end

function rt.descriptor(value)
    if type(value) == "number" then return value end
    if type(value) == "table" and value.fd then return type(value.fd) == "function" and value:fd() or value.fd end
    bad("fd", "number", value)
end

function rt.buffer(size)
    if type(size) ~= "number" or size < 0 then bad("size", "number", size) end
    return chars(size)
end

function rt.texts(list)
    local array = { n = #list, list = list, p = texts_array(#list) }
    for at, text in ipairs(list) do array.p[at - 1] = rt.text(text, "text") end
    return array
end

function rt.ints(list)
    return { n = #list, p = int32_cell(#list, list) }
end

-- Header fields: a table of names and values, or a list of pairs {name, value}.
function rt.fields(list)
    local pairs_of = {}
    for name, value in pairs(list) do
        if type(name) == "string" then table.insert(pairs_of, { name, value }) end
    end
    table.sort(pairs_of, function(a, b) return a[1] < b[1] end)
    for _, pair in ipairs(list) do table.insert(pairs_of, pair) end
    local array = { n = #pairs_of, list = pairs_of, p = ffi.new("netlib_header_field[?]", #pairs_of) }
    for at, pair in ipairs(pairs_of) do
        array.p[at - 1].name, array.p[at - 1].value = rt.text(pair[1], "name"), rt.text(pair[2], "value")
    end
    return array
end

function rt.slices(list)
    local array = { n = #list, list = {}, p = ffi.new("netlib_slice[?]", #list) }
    for at, data in ipairs(list) do
        local text = rt.data(data, "data")
        array.list[at] = text
        array.p[at - 1].data, array.p[at - 1].len = ffi.cast("const char *", text), #text
    end
    return array
end

-- ---- Results. A string of Lua holds any bytes, so text and bytes are equal.

function rt.to_text(p, n)
    if p == nil then return nil end
    if n then return ffi.string(p, n) end
    return ffi.string(p)
end
rt.to_bytes = rt.to_text

function rt.buffer_text(buffer, n)
    return ffi.string(buffer, n)
end

function rt.to_texts(p, n)
    local list = {}
    for at = 1, tonumber(n) do list[at] = ffi.string(p[at - 1]) end
    return list
end

function rt.to_ints(p, n)
    local list = {}
    for at = 1, tonumber(n) do list[at] = p[at - 1] end
    return list
end

function rt.own_descriptor(fd)
    if fd < 0 then return nil end
    return fd
end

-- ---- Errors.

local Error = {}
Error.__index = Error
Error.__tostring = function(self) return self.message end
netlib.Error = Error

-- A text of C with names of Lua.
local function in_lua(text)
    if text == nil then return nil end
    local function replace(name) return rt.names[name] end
    return (text:gsub("%f[%w_]enum (netlib_[%w_]+)", replace):gsub("%f[%w_]netlib_[%w_]+", replace))
end

-- The message with the causes and the advice, for logs.
function Error.report(self) return in_lua(self.info:report()) end
function Error.is(value) return getmetatable(value) == Error end

-- An error of netlib as the value that error() raises.
function rt.error_of(info)
    local new = { info = info, status = info:status(), message = in_lua(info:message()), advice = in_lua(info:advice()) }
    new.name = netlib.status_name(new.status)
    new.class = netlib.status_class(new.status)
    local offset = info:offset()
    if offset >= 0 then new.offset = offset end
    new.causes = {}
    for at = 1, info:cause_count() do new.causes[at] = rt.error_of(info:cause(at - 1)) end
    return setmetatable(new, Error)
end

local raised -- the error of a callback during the current call, in a table

function rt.reraise()
    local pending = raised
    if pending then
        raised = nil
        error(pending[1], 0)
    end
end

function rt.fail(_, err)
    local info = rt.own(class.ErrorInfo, err[0])
    rt.reraise()
    error(rt.error_of(info), 0)
end

-- ---- Callbacks. There is one C function per type, because the number of callbacks is limited in LuaJIT. The `ctx` of a
-- callback is the key of its functions in `held`.

local held, next_key = {}, 0

function rt.hold(functions)
    next_key = next_key + 1
    held[next_key] = functions
    return ffi.cast("void *", next_key)
end

local function key_of(ctx)
    return tonumber(ffi.cast("intptr_t", ctx))
end

function rt.held_value(ctx)
    return held[key_of(ctx)]
end

-- The number of objects that netlib holds, for tests.
function rt.held_count()
    local n = 0
    for _ in pairs(held) do n = n + 1 end
    return n
end

-- Calls a function, keeps its error for the caller of the outer call, and ends the use of borrowed arguments.
function rt.try(ctx, name, ...)
    local good, result, second, third = pcall(held[key_of(ctx)][name], ...)
    if not good then raised = { result } end
    for at = 1, select("#", ...) do
        local argument = select(at, ...)
        if type(argument) == "table" then argument:close() end
    end
    return good, result, second, third
end

local function wrong(message, failure)
    raised = { message }
    return failure
end

function rt.expect(result, failure)
    if type(result) == "number" then return result end
    return wrong("a callback returned " .. type(result) .. ", but must return a number", failure)
end

-- Stores a clone of the handle that a callback has returned. `clone` may raise an error, which must not cross C.
function rt.store_handle(cell, of, result)
    if type(result) ~= "table" then return rt.expect(result, 0) end
    if getmetatable(result) ~= of then return wrong("a callback returned a table, but must return a " .. of.class_name, 0) end
    local good, err = pcall(function() cell[0] = rt.give(result:clone()) end)
    if not good then return wrong(err, 0) end
    return 1
end

-- Stores the numbers that a callback has returned after its result. The arguments are pairs of cells and numbers.
function rt.store_values(result, ...)
    for at = 1, select("#", ...), 2 do
        local cell, value = select(at, ...)
        if type(value) == "number" or ffi.istype("uint64_t", value) or ffi.istype("int64_t", value) then
            cell[0] = value
        elseif value ~= nil then
            return wrong("a callback returned " .. type(value) .. ", but must return a number", 0)
        end
    end
    return rt.expect(result, 0)
end

function rt.store_number(cell, result)
    if type(result) ~= "number" then return wrong("a callback returned " .. type(result) .. ", but must return a number", -1) end
    cell[0] = result
    return 0
end

function rt.store_truth(cell, result)
    if type(result) ~= "boolean" then return wrong("a callback returned " .. type(result) .. ", but must return a boolean", -1) end
    cell[0] = result and 1 or 0
    return 0
end

-- Stores the text that a callback has read, nil at the end.
function rt.store(buf, len, n, result)
    if result == nil then result = "" end
    if type(result) ~= "string" or #result > len then return wrong("a callback returned no text that fits the buffer", -1) end
    ffi.copy(buf, result, #result)
    n[0] = #result
    return 0
end

-- Makes the C function for a type of callback. No Lua error leaves this function, because an error that unwinds the stack
-- of netlib ends the process: the outer call raises the error, unless an earlier callback of that call has raised one. The
-- calls of the callback do not raise the earlier error. `failure` is the function's result after an error.
function rt.define(name, failure, callback)
    rt.callbacks[name] = ffi.cast(name, function(...)
        local earlier = raised
        raised = nil
        local good, result = pcall(callback, ...)
        if not good then raised, result = { result }, failure end
        raised = earlier or raised
        return result
    end)
end

rt.define_ctx_free = function()
    rt.define("netlib_ctx_free_fn", nil, function(ctx) held[key_of(ctx)] = nil end)
end

-- Code that generate.py has written.
