-- Tests of the features that only the binding for LuaJIT has.
local ffi = require("ffi")
local netlib = require("netlib")

local passed, failed = 0, 0

local function test(name, run)
    local good, err = pcall(run)
    passed, failed = passed + (good and 1 or 0), failed + (good and 0 or 1)
    if not good then print("FAILED: " .. name .. ": " .. tostring(err)) end
end

local function message_of(call, ...)
    local good, err = pcall(call, ...)
    assert(not good, "the call succeeded")
    return tostring(err)
end

local function equal(got, wanted)
    if got ~= wanted then error("got " .. tostring(got) .. ", but expected " .. tostring(wanted), 2) end
end

local function collect()
    collectgarbage()
    collectgarbage()
end

test("a_closed_object_is_refused", function()
    local url = netlib.parse_url("http://a/")
    url:close()
    url:close()
    assert(message_of(url.host, url):find("the Url is closed", 1, true))
end)

test("urls_with_equal_texts_are_equal", function()
    local url = netlib.parse_url("HTTP://user:secret@a/")
    equal(url == netlib.parse_url("http://user:secret@a/"), true)
    equal(url == netlib.parse_url("http://a/"), false)
    equal(url == "http://user:secret@a/", false)
    equal(tostring(url), "http://user:secret@a/")
    equal(url:redacted(), "http://***@a/")
end)

test("a_number_is_refused_as_a_truth_value", function()
    local options = netlib.RetryOptions.new()
    assert(message_of(options.raise_on_status, options, 0):find("boolean expected", 1, true))
end)

test("a_table_is_refused_as_text", function()
    assert(message_of(netlib.parse_url, {}):find("string expected", 1, true))
end)

test("send_all_fails_if_a_stream_that_does_not_block_takes_only_a_part", function()
    ffi.cdef("int socketpair(int domain, int type, int protocol, int fds[2]); int close(int fd);")
    local fds = ffi.new("int[2]")
    assert(ffi.C.socketpair(1, 1, 0, fds) == 0)
    local stream = netlib.Stream.new_fd(fds[0])
    stream:set_blocking(false)
    local message = message_of(stream.send_all, stream, ("a"):rep(16 * 2 ^ 20))
    assert(message:find("a stream that does not block cannot finish this call", 1, true), message)
    stream:close()
    ffi.C.close(fds[0])
    ffi.C.close(fds[1])
end)

test("a_text_with_any_bytes_is_returned_unchanged", function()
    local bytes = "\0\255\n"
    local encoded = netlib.percent_encode(netlib.URL_COMPONENT_PATH_SEGMENT, bytes):data()
    equal(netlib.percent_decode(netlib.URL_COMPONENT_PATH_SEGMENT, encoded):data(), bytes)
end)

test("an_absent_query_is_nil_and_an_empty_query_is_a_string", function()
    equal(netlib.parse_url("http://a/"):query(), nil)
    equal(netlib.parse_url("http://a/?"):query(), "")
end)

test("a_setter_raises_the_error_of_a_refused_value", function()
    local options = netlib.HeadersOptions.new()
    assert(message_of(options.add_header, options, "a b", "c"):find("header", 1, true))
end)

test("ctx_free_releases_the_callbacks_of_a_closed_object", function()
    collect()
    local before = netlib.held_count()
    local options = netlib.RetryOptions.new():sleep(function() end)
    local retry = netlib.Retry.new(options)
    equal(netlib.held_count(), before + 1)
    options:close()
    equal(netlib.held_count(), before + 1)
    retry:close()
    equal(netlib.held_count(), before)
end)

test("the_garbage_collector_releases_callbacks", function()
    collect()
    local before = netlib.held_count()
    for _ = 1, 1000 do netlib.RetryOptions.new():sleep(function() end) end
    collect()
    equal(netlib.held_count(), before)
end)

test("a_borrowed_object_keeps_its_lender_alive", function()
    local headers = netlib.Response.new("GET", 200, netlib.Headers.new({ a = "b" })):headers()
    collect()
    equal(headers:get("a"), "b")
end)

test("a_borrowed_object_is_refused_after_its_lender_was_closed", function()
    local response = netlib.Response.new("GET", 200, netlib.Headers.new({ a = "b" }))
    local headers = response:headers()
    response:close()
    assert(message_of(headers.get, headers, "a"):find("the Response is closed", 1, true))
end)

test("a_module_without_a_directory_in_its_name_ignores_the_library_of_the_current_directory", function()
    local directory, module = os.tmpname(), package.searchpath("netlib", package.path)
    os.remove(directory)
    local function run(command) return os.execute("cd " .. directory .. " && " .. command) == 0 end
    os.execute("mkdir " .. directory)
    local program = "load(io.open('" .. module .. "'):read('*a'), '=netlib')()"
    local planted = assert(io.open(directory .. "/libnetlib.so.0.1", "w"))
    planted:write("not a library")
    planted:close()
    assert(run("LD_LIBRARY_PATH=" .. module:match("^(.*)/") .. ' luajit -e "' .. program .. '"'), "the planted file was loaded")
    os.execute("rm -r " .. directory)
end)

test("a_table_with_to_string_is_written_as_its_text", function()
    local written = {}
    local stream = netlib.Stream.new_callbacks(function() end, function(data)
        written[#written + 1] = data
        return #data
    end)
    stream:writev({ netlib.parse_url("http://a/b"), "c" })
    equal(table.concat(written), "http://a/bc")
end)

local certs = arg[1] .. "/../../tests/certs/"
local function trusting_options()
    return netlib.TlsOptions.new():system_trust(false):add_ca_file(certs .. "ca.pem")
end

test("the_advice_of_an_error_names_the_method_of_lua", function()
    local context = netlib.TlsContext.new(trusting_options())
    local chain = assert(io.open(certs .. "self-signed.pem")):read("*a")
    local _, err = pcall(context.verify_chain, context, chain, netlib.PURPOSE_SERVER_AUTH)
    equal(err.info:advice(), "to trust it: netlib_tls_options_add_ca_file")
    equal(err.advice, "to trust it: netlib.TlsOptions:add_ca_file")
    assert(err:report():find("advice: " .. err.advice, 1, true), err:report())
end)

for text, wanted in pairs({
    ["netlib_tls_options_set_ciphers: bad"] = "netlib.TlsOptions:ciphers: bad",
    ["no value of enum netlib_tls_version"] = "no value of netlib.TLS_VERSION_*",
    ["netlib_limit_free, netlib_limit_new"] = "netlib.Limit:close, netlib.Limit.new",
    ["netlib_unknown, enum netlib_unknown"] = "netlib_unknown, enum netlib_unknown",
}) do
    test("the_message_" .. text:gsub(" ", "_") .. "_has_the_names_of_lua", function()
        equal(tostring(netlib.make_error(netlib.PROTOCOL, text)), wanted)
    end)
end

test("the_message_of_a_refused_value_names_the_method_of_lua", function()
    local options = netlib.TlsOptions.new()
    equal(message_of(options.minimum_version, options, 77),
        "netlib.TlsOptions:minimum_version: version must be one of netlib.TLS_VERSION_*; it is 77")
end)

-- The comments of netlib.lua.
local function comments()
    local lines = {}
    for line in io.lines((package.searchpath("netlib", package.path))) do
        if line:find("^%s*%-%-") then lines[#lines + 1] = line end
    end
    return lines
end

test("comments_contain_no_names_of_c", function()
    for _, line in ipairs(comments()) do
        local text = line:gsub('"NETLIB_[%w_]*"', "")
        equal(text:match("%f[%w_]netlib_%w+_%w+.*") or text:match("%f[%w_]NETLIB_.*") or text:match("%f[%w_]NULL%f[^%w_].*"), nil)
    end
end)

test("comments_name_only_what_exists", function()
    local count, text = 0, table.concat(comments(), "\n")
    for path in text:gmatch("`netlib%.([%w_.:]*[%w_])`") do
        local owner, name = path:match("^(%w+)[.:]([%w_]+)$")
        count = count + 1
        if owner then
            assert(netlib[owner] and netlib[owner][name], path)
        elseif not path:find("_$") then
            assert(netlib[path] ~= nil, path)
        end
    end
    assert(count > 300, count)
end)

test("a_comment_has_the_parameters_the_result_and_the_failures", function()
    local text = assert(io.open((package.searchpath("netlib", package.path)))):read("*a")
    local at = assert(text:find("function class.Retry:get_retry_after", 1, true))
    local comment = text:sub(at - 1200, at)
    for _, part in ipairs({
        "\n--- Parses the Retry-After header of a response", "\n-- @tparam netlib.Response response the response.\n",
        "\n-- @treturn number the wait that the server asks for", "\n-- @raise netlib.Error: `netlib.INVALID_HEADER` if",
    }) do
        assert(comment:find(part, 1, true), part)
    end
end)

test("a_refused_argument_leaves_no_callback_held", function()
    collect()
    local before, context = netlib.held_count(), netlib.TlsContext.new(trusting_options())
    context:close()
    local read, write = function() end, function() end
    assert(message_of(netlib.tls_wrap_callbacks, context, "a", read, write):find("the TlsContext is closed", 1, true))
    equal(netlib.held_count(), before)
end)

-- The error of the handshake of a server whose servername callback returns a value.
local function servername_error(value)
    local client = netlib.TlsContext.new(trusting_options())
    local options = trusting_options():identity_files(certs .. "server.pem", certs .. "server.key")
    local server = netlib.TlsContext.new(options:servername_callback(function() return value end))
    local near, far = netlib.TlsEngine.new_client(client, "localhost"), netlib.TlsEngine.new_server(server)
    near:handshake()
    far:feed(near:drain(16384))
    return message_of(far.handshake, far)
end

test("an_engine_without_a_session_returns_nil", function()
    equal(netlib.TlsEngine.new_client(netlib.TlsContext.new(trusting_options()), "localhost"):take_session(), nil)
end)

test("a_closed_context_from_a_servername_callback_fails_the_handshake", function()
    local context = netlib.TlsContext.new(trusting_options())
    context:close()
    assert(servername_error(context):find("the TlsContext is closed", 1, true))
end)

test("a_url_from_a_servername_callback_fails_the_handshake", function()
    local message = servername_error(netlib.parse_url("http://a/"))
    assert(message:find("must return a TlsContext", 1, true), message)
end)

test("a_function_that_was_hot_before_it_called_back_runs_the_callback", function()
    local calls = 0
    local plain, timeout = netlib.Timeout.new(10, nil, nil), netlib.Timeout.new(10, nil, nil)
    timeout:set_clock(function() calls = calls + 1 return 100 end)
    plain:start_connect()
    timeout:start_connect()
    calls = 0
    for at = 1, 1000 do
        local chosen = at < 900 and plain or timeout
        chosen:read_timeout()
    end
    equal(calls, 101)
end)

test("a_callback_that_returns_no_number_fails_the_call", function()
    local timeout = netlib.Timeout.new(10, nil, nil)
    timeout:set_clock(function() return "noon" end)
    assert(message_of(timeout.start_connect, timeout):find("a callback returned string", 1, true))
end)

test("a_body_that_reads_through_a_callback_returns_its_pieces", function()
    local pieces = { "ab", "c" }
    local body = netlib.Body.new(function() return table.remove(pieces, 1) end)
    equal(body:read(10), "ab")
    equal(body:read(10), "c")
    local data, status = body:read(10)
    equal(data, nil)
    equal(status, netlib.END_OF_STREAM)
end)

-- The attempts of a request to http://a/x with a body.
local function attempts_of(options)
    options = (options or netlib.RetryOptions.new_recommended()):allow_any_method():jitter_kind(netlib.JITTER_NONE)
    local headers = netlib.Headers.new({ authorization = "secret", ["content-type"] = "text/plain" })
    return netlib.Attempts.new(netlib.Retry.new(options), "POST", netlib.parse_url("http://a/x"), headers, true)
end

local function response_of(status, fields)
    return netlib.Response.new("POST", status, netlib.Headers.new(fields or {}))
end

-- Makes attempts until the request ends, as get.lua does. `exchange` returns a response, or raises an error.
local function make_attempts(attempts, exchange)
    local status
    repeat
        local good, err = pcall(function() status = attempts:next(exchange()) end)
        if not good then
            if not netlib.Error.is(err) then error(err, 0) end
            status = attempts:next(nil, err)
        end
    until status ~= netlib.SEND_AGAIN
end

test("an_error_of_the_program_in_an_attempt_is_not_retried", function()
    local mine, count = { "a bug" }, 0
    local attempts = attempts_of()
    local _, err = pcall(make_attempts, attempts, function()
        count = count + 1
        error(mine)
    end)
    equal(err, mine)
    equal(count, 1)
    -- `next` refuses the error, and the request has not ended.
    assert(message_of(attempts.next, attempts, nil, mine):find("expected an object of netlib", 1, true))
    equal(attempts:next(response_of(200)), netlib.OK)
end)

test("objects_of_the_attempts_are_valid_after_a_redirect", function()
    local attempts = attempts_of(netlib.RetryOptions.new_recommended():sleep(function() end))
    equal(attempts:decision(), nil)
    attempts:next(response_of(503, { ["retry-after"] = "7" }))
    local url, headers, decision = attempts:url(), attempts:headers(), attempts:decision()
    equal(attempts:next(response_of(307, { location = "http://b/y" })), netlib.SEND_AGAIN)
    equal(tostring(attempts:url()), "http://b/y")
    equal(attempts:headers():get("authorization"), nil)
    equal(attempts:decision():delay(), 0)
    attempts:close()
    collect()
    equal(tostring(url), "http://a/x")
    equal(headers:get("authorization"), "secret")
    equal(decision:delay(), 7)
end)

test("the_attempt_after_a_303_sends_no_body", function()
    local attempts = attempts_of()
    equal(attempts:method(), "POST")
    equal(attempts:sends_body(), true)
    equal(attempts:next(response_of(303, { location = "/y" })), netlib.SEND_AGAIN)
    equal(attempts:method(), "GET")
    equal(attempts:sends_body(), false)
    equal(attempts:headers():get("content-type"), nil)
    equal(attempts:request(netlib.REQUEST_FORM_ORIGIN):to_wire():match("[^\r]*"), "GET /y HTTP/1.1")
end)

test("the_error_that_ends_the_retries_is_not_counted_again", function()
    local count, slept = 0, {}
    local options = netlib.RetryOptions.new_recommended():total(2)
    options:sleep(function(seconds) slept[#slept + 1] = seconds end)
    local _, err = pcall(make_attempts, attempts_of(options), function()
        count = count + 1
        return response_of(503)
    end)
    equal(err.name, "NETLIB_MAX_RETRY")
    equal(err.causes[1].name, "NETLIB_RESPONSE_STATUS")
    equal(count, 3)
    equal(table.concat(slept, ","), "0.2") -- there is no wait before the first retry
end)

test("an_error_is_retried_and_the_response_after_it_is_the_result", function()
    local count = 0
    make_attempts(attempts_of(netlib.RetryOptions.new_recommended():sleep(function() end)), function()
        count = count + 1
        if count < 3 then error(netlib.make_error(netlib.CONNECT_FAILED, "refused"), 0) end
        return response_of(200)
    end)
    equal(count, 3)
end)

test("an_error_after_the_end_is_raised_as_it_is", function()
    local attempts = attempts_of()
    equal(attempts:next(response_of(200)), netlib.OK)
    local mine = {}
    local failure = netlib.make_error(netlib.READ_TIMEOUT, "the body is late", mine)
    for _ = 1, 2 do
        local _, err = pcall(attempts.next, attempts, nil, failure)
        equal(err.name, "NETLIB_READ_TIMEOUT")
        equal(tostring(err), "the body is late")
        equal(err:user_data(), mine)
    end
    local _, err = pcall(attempts.next, attempts, response_of(503))
    equal(err.name, "NETLIB_CLOSED")
end)

test("an_error_of_the_sleep_callback_ends_the_request", function()
    local mine = { "mine" }
    local attempts = attempts_of(netlib.RetryOptions.new_recommended():sleep(function() error(mine) end))
    local _, err = pcall(attempts.next, attempts, response_of(503, { ["retry-after"] = "1" }))
    equal(err, mine)
    local failure = netlib.make_error(netlib.CONNECT_FAILED, "refused")
    equal(message_of(attempts.next, attempts, nil, failure), "refused")
end)

test("a_callback_returns_a_result_and_two_numbers", function()
    local words = {}
    local store = netlib.Store.new(function(key, expected, desired)
        local word = words[key] or 0ULL
        if word ~= expected then return netlib.SWAP_CHANGED, word, 100 end
        words[key] = desired
        return netlib.SWAP_SWAPPED, 0, 100
    end, 1)
    local rate = netlib.Rate.new(netlib.RateOptions.new():limit(1, 2):store(store, netlib.UNAVAILABLE_CLOSED))
    for _, expected in ipairs({ netlib.OK, netlib.OK, netlib.RATE_LIMITED }) do
        local _, status = rate:take("a\0b", 1)
        equal(status, expected)
    end
    equal(next(words), "rate:a\0b")
    local wrong = netlib.Store.new(function() return netlib.SWAP_CHANGED, "text" end, 1)
    local options = netlib.RateOptions.new():limit(1, 2):store(wrong, netlib.UNAVAILABLE_CLOSED)
    local _, err = pcall(function() netlib.Rate.new(options):take("a", 1) end)
    equal(tostring(err):match("must return a number"), "must return a number")
end)

test("the_program_of_the_readme_is_get_lua", function()
    local function read(name) return assert(io.open(arg[1] .. "/" .. name)):read("*a") end
    local program = read("README.md"):match("```lua\n(.-)```")
    assert(read("get.lua"):find(program, 1, true), "the programs differ")
end)

print(passed .. " passed, " .. failed .. " failed")
os.exit(failed == 0 and 0 or 1, true)
