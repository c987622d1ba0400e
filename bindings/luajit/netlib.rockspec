-- bindings/luajit/build writes the version of netlib instead of 0.0.0.
rockspec_format = "3.0"
package = "netlib"
version = "0.0.0-1"
source = {
    url = "git+https://netlib.example/netlib",
    tag = "v0.0.0",
}
description = {
    summary = "The hard small parts of an HTTP client: retries, time limits, URLs, headers, TLS and connecting",
    detailed = "A binding of the C library netlib for LuaJIT, which calls the library through the FFI.",
    license = "MIT OR Apache-2.0",
    homepage = "https://netlib.example/netlib",
    issues_url = "https://netlib.example/netlib/issues",
    maintainer = "The netlib authors",
    labels = { "http", "retry", "timeout", "tls", "url", "luajit", "ffi" },
}
supported_platforms = { "linux" }
dependencies = { "lua == 5.1" } -- LuaJIT
build = {
    type = "builtin",
    modules = { netlib = "netlib.lua" },
    install = { lib = { "libnetlib.so.0.1" } },
    copy_directories = {},
}
