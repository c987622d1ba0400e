//! Cases about Unix domain sockets, source addresses, socket options and minimum throughput.

use super::{Case, NOTHING, fails, get};

/// Runs fetch in the directory of the server's sockets, so that the paths of the sockets are short.
const AT_THE_SERVER: &str = "cd '{server}' && \"$@\"";

pub const ALL: &[Case] = &[
    // Cases with Unix domain sockets. The host of the URL is not resolved, but the server's certificate must match it.
    Case {
        name: "unix",
        args: &["-v", "--unix-socket", "http.sock", "http://no-such-host.invalid:81/echo"],
        shell: AT_THE_SERVER,
        out: &["GET /echo\n", "\nHost: no-such-host.invalid:81\n"],
        err: &["*   http.sock, 0.0", " s: connected\n*   connected to no-such-host.invalid:81\n"],
        never: &["attempt 2"],
        ..NOTHING
    },
    Case {
        name: "unix-tls",
        args: &["-v", "--unix-socket", "https.sock", "https://localhost/hello"],
        shell: AT_THE_SERVER,
        body: Some("hello\n"),
        err: &["*   https.sock, 0.0", " s: connected\n*   connected to localhost with TLS 1.3, "],
        ..NOTHING
    },
    Case {
        shell: AT_THE_SERVER,
        ..fails("unix-tls-name", &["--unix-socket", "https.sock", "https://other.test/hello"], 8, &["other.test"])
    },
    Case {
        name: "unix-abstract",
        args: &["-v", "--abstract-unix-socket", "{abstract}", "http://name.test/hello"],
        body: Some("hello\n"),
        err: &["*   @{abstract}, 0.0", " s: connected\n"],
        ..NOTHING
    },
    get(
        "unix-twice",
        &["--unix-socket", "none.sock", "--abstract-unix-socket", "{abstract}", "http://name.test/hello"],
        "hello\n",
    ),
    // Unix domain sockets ignore TCP options.
    get(
        "unix-other-options",
        &[
            "--abstract-unix-socket",
            "{abstract}",
            "--interface",
            "nope0",
            "--source",
            "192.0.2.1:1",
            "--keepalive",
            "1",
            "--user-timeout",
            "1",
            "http://name.test/hello",
        ],
        "hello\n",
    ),
    Case {
        shell: AT_THE_SERVER,
        ..fails(
            "unix-redirect",
            &["-v", "--unix-socket", "http.sock", "http://name.test/redirect-to-private"],
            22,
            &["attempt 2: GET http://10.0.0.1/\n*   http.sock, 0.0", "fetch: the server answered 404\n"],
        )
    },
    // If fetch uses a proxy, --unix-socket names the proxy's socket.
    Case {
        name: "unix-proxy",
        args: &["--unix-socket", "proxy.sock", "--proxy", "http://proxy.test", "http://origin.test/echo"],
        shell: AT_THE_SERVER,
        out: &["GET http://origin.test/echo\n"],
        ..NOTHING
    },
    Case {
        shell: AT_THE_SERVER,
        ..get(
            "unix-tunnel",
            &["--unix-socket", "proxy.sock", "--proxy", "http://proxy.test", "https://localhost:{https}/hello"],
            "hello\n",
        )
    },
    fails(
        "unix-missing",
        &["--unix-socket", "none.sock", "http://localhost:{http}/hello"],
        5,
        &["fetch: cannot connect to none.sock: No such file or directory (attempt 4)\n"],
    ),
    fails(
        "unix-abstract-missing",
        &["--retries", "0", "--abstract-unix-socket", "{abstract}-2", "https://localhost:{https}/hello"],
        5,
        &["fetch: cannot connect to @{abstract}-2: Connection refused: no socket listens on this name\n"],
    ),
    // The address policy can refuse Unix domain sockets.
    Case {
        shell: AT_THE_SERVER,
        ..fails(
            "unix-refused",
            &["-v", "--refuse-addresses", "unix", "--unix-socket", "http.sock", "http://name.test/hello"],
            19,
            &[
                " s: not tried because of --refuse-addresses\n",
                "fetch: cannot connect to http.sock: the address policy refuses http.sock: unix\n",
            ],
        )
        .silent_about(&["connected", "attempt 2"])
    },
    fails(
        "unix-refused-abstract",
        &["--refuse-addresses", "all-but-global", "--abstract-unix-socket", "{abstract}", "http://name.test/hello"],
        19,
        &["fetch: cannot connect to @{abstract}: the address policy refuses @{abstract}: unix\n"],
    ),
    get(
        "unix-not-refused",
        &["--refuse-addresses", "loopback,private", "--abstract-unix-socket", "{abstract}", "http://127.0.0.1/hello"],
        "hello\n",
    ),
    fails(
        "bad-unix",
        &["--unix-socket", "", "http://localhost/"],
        2,
        &["fetch: --unix-socket: the path of a Unix domain socket is empty (see fetch --help)\n"],
    ),
    fails(
        "bad-unix-long",
        &[
            "--unix-socket",
            "108-bytes-----------------------------------------------------------------------------------------------xxxx",
            "http://localhost/",
        ],
        2,
        &["fetch: --unix-socket: the path of a Unix domain socket has 108 bytes; at most 107 fit ("],
    ),
    fails(
        "bad-unix-abstract",
        &["--abstract-unix-socket", "", "http://localhost/"],
        2,
        &["fetch: --abstract-unix-socket: the address of a Unix domain socket has only NUL bytes ("],
    ),
    // Cases with source addresses.
    get("interface", &["--interface", "lo", "https://localhost:{https}/hello"], "hello\n"),
    fails(
        "interface-unknown",
        &["--interface", "nope0", "http://127.0.0.1:{http}/hello"],
        5,
        &[
            "fetch: cannot connect to 127.0.0.1 port {http}: cannot bind to interface nope0: No such device (attempt 4)\n",
        ],
    ),
    fails(
        "bad-interface",
        &["--interface", "sixteen-bytes-xx", "http://localhost/"],
        2,
        &["fetch: --interface: name has 16 bytes; an interface name has at most 15 (see fetch --help)\n"],
    ),
    get("source", &["--source", "127.0.0.2", "http://127.0.0.1:{http}/hello"], "hello\n"),
    fails(
        "source-elsewhere",
        &["--retries", "0", "--source", "192.0.2.1", "http://127.0.0.1:{http}/hello"],
        5,
        &["port {http}: cannot bind to 192.0.2.1 port 0: Cannot assign requested address\n"],
    ),
    // Binding fails because the source port is in use.
    fails(
        "source-port",
        &["--retries", "0", "--source", "127.0.0.1:{closed}", "http://127.0.0.1:{http}/hello"],
        5,
        &["port {http}: cannot bind to 127.0.0.1 port {closed}: Address already in use\n"],
    ),
    fails(
        "source-ipv6",
        &["--retries", "0", "--source", "::1", "http://127.0.0.1:{http}/hello"],
        5,
        &["the source address cannot be used for IPv4\n"],
    ),
    fails(
        "source-ipv6-port",
        &["--retries", "0", "--source", "[::1]:80", "http://127.0.0.1:{http}/hello"],
        5,
        &["the source address cannot be used for IPv4\n"],
    ),
    fails(
        "bad-source",
        &["--source", "a..b", "http://localhost/"],
        2,
        &["fetch: --source: the host \"a..b\" has an empty label, at byte 2"],
    ),
    fails(
        "bad-source-port",
        &["--source", "[::1]:65536", "http://localhost/"],
        2,
        &["fetch: --source: the port is invalid"],
    ),
    fails(
        "bad-source-no-port",
        &["--source", "127.0.0.1:", "http://localhost/"],
        2,
        &["fetch: --source: the port is invalid"],
    ),
    // TCP keepalive: /proc/net/tcp shows an active keepalive timer as 02.
    Case {
        shell: "\"$@\" & until grep -q 'never?probed' '{requests}'; do sleep 0.1; done; found=99; \
                for i in $(seq 100); do \
                    grep -q \":$(printf %04X {http2nd}) 01 00000000:00000000 02:\" /proc/net/tcp && found=0 && break; \
                    sleep 0.1; \
                done; \
                kill -TERM $!; wait $!; code=$?; [ $found = 0 ] || exit $found; exit $code",
        ..fails(
            "keepalive",
            &["--keepalive", "30,5.5,3", "http://127.0.0.1:{http2nd}/never?probed"],
            130,
            &["cancelled"],
        )
    },
    get("keepalive-idle", &["--keepalive", "0.5", "https://localhost:{https}/hello"], "hello\n"),
    get("user-timeout", &["--user-timeout", "20.5", "https://localhost:{https}/hello"], "hello\n"),
    fails(
        "bad-keepalive",
        &["--keepalive", "32768", "http://localhost/"],
        2,
        &["fetch: --keepalive: idle must be more than 0 and at most 32767 seconds; it is 32768 (see fetch --help)\n"],
    ),
    fails(
        "bad-keepalive-count",
        &["--keepalive", "1,1,0", "http://localhost/"],
        2,
        &["fetch: --keepalive: count must be 1 to 127; it is 0 ("],
    ),
    fails(
        "bad-keepalive-form",
        &["--keepalive", "1,2,3,4", "http://localhost/"],
        2,
        &["fetch: --keepalive: IDLE[,INTERVAL[,COUNT]] is needed, in seconds ("],
    ),
    // fetch refuses -1, the value of `NETLIB_TIMEOUT_DEFAULT`.
    fails("bad-keepalive-negative", &["--keepalive", "1,-1", "http://localhost/"], 2, &["--keepalive: IDLE[,"]),
    fails(
        "bad-user-timeout",
        &["--user-timeout", "2147484", "http://localhost/"],
        2,
        &["fetch: --user-timeout: seconds must be more than 0 and at most 2147483 seconds; it is 2147484 ("],
    ),
    fails(
        "bad-user-timeout-negative",
        &["--user-timeout", "-1", "http://localhost/"],
        2,
        &["fetch: --user-timeout: "],
    ),
    // Cases about the minimum throughput. The server never pauses for as long as the read timeout, so only the minimum
    // throughput ends the transfer.
    get("fast-enough", &["--minimum-speed", "6/5", "https://localhost:{https}/hello"], "hello\n"),
    get("fast-enough-http", &["--minimum-speed", "6/5", "http://localhost:{http}/hello"], "hello\n"),
    Case {
        seconds: (1.0, 10.0),
        ..fails(
            "slow",
            &["-v", "--minimum-speed", "20/1", "https://localhost:{https}/drip"],
            20,
            &[
                "answered 200 OK",
                "fetch: --minimum-speed: ",
                "; the minimum is 20 in 1 s; the output has only the first ",
            ],
        )
    },
    Case {
        seconds: (1.0, 10.0),
        ..fails(
            "slow-http",
            &["-v", "--minimum-speed", "20/1", "http://localhost:{http}/drip"],
            20,
            &[
                "answered 200 OK",
                "fetch: --minimum-speed: ",
                "; the minimum is 20 in 1 s; the output has only the first ",
            ],
        )
    },
    fails(
        "slow-in-tunnel",
        &["--minimum-speed", "20/1", "--proxy", "https://localhost:{tlsproxy}", "https://localhost:{https}/drip"],
        20,
        &["fetch: --minimum-speed: ", "; the minimum is 20 in 1 s; the output has only the first "],
    ),
    // A retry can overwrite an output file from the start.
    Case {
        leaves: &[("out", None), ("out.part", None)],
        ..fails(
            "slow-for-ever",
            &["-v", "--retries", "2", "--minimum-speed", "20/1", "-o", "{dir}/out", "https://localhost:{https}/drip"],
            20,
            &[
                "; the minimum is 20 in 1 s (NETLIB_TOO_SLOW)\n",
                "from the counter \"read\", 0 left",
                "fetch: --minimum-speed: ",
                "; the minimum is 20 in 1 s (attempt 3)\n",
            ],
        )
    },
    Case {
        name: "slow-once",
        args: &["-v", "--minimum-speed", "20/1", "-o", "{dir}/out", "https://localhost:{https}/drip-once"],
        err: &["; the minimum is 20 in 1 s (NETLIB_TOO_SLOW)\n", "from the counter \"read\", 2 left", "attempt 2"],
        leaves: &[("out", Some("hello\n")), ("out.part", None)],
        ..NOTHING
    },
    Case {
        name: "slow-once-http",
        args: &["-v", "--minimum-speed", "20/1", "-o", "{dir}/out", "http://localhost:{http}/drip-once"],
        err: &["; the minimum is 20 in 1 s (NETLIB_TOO_SLOW)\n", "from the counter \"read\", 2 left", "attempt 2"],
        leaves: &[("out", Some("hello\n")), ("out.part", None)],
        ..NOTHING
    },
    // A POST request is not retried, because it may have had an effect.
    fails(
        "slow-post",
        &["-d", "x", "--minimum-speed", "20/1", "-o", "{dir}/out", "http://localhost:{http}/drip?post"],
        20,
        &["fetch: --minimum-speed: ", "; the minimum is 20 in 1 s\n"],
    ),
    // A peer that sends no data also counts as too slow: a server before its response, a server during the handshake,
    // and a proxy.
    fails(
        "slow-to-think",
        &["--retries", "0", "--minimum-speed", "1/0.5", "http://localhost:{http}/never"],
        20,
        &["fetch: --minimum-speed: 0 bytes arrived from the peer in ", "; the minimum is 1 in 0.5 s\n"],
    ),
    fails(
        "slow-to-shake-hands",
        &["--retries", "0", "--minimum-speed", "1/0.5", "https://localhost:{mute}/"],
        20,
        &[
            "fetch: --minimum-speed: 0 bytes arrived from the server \"localhost\" in ",
            " s of waiting during the TLS handshake; the minimum is 1 in 0.5 s\n",
        ],
    ),
    fails(
        "slow-proxy",
        &[
            "--retries",
            "0",
            "--minimum-speed",
            "1/0.5",
            "--proxy",
            "http://localhost:{proxy}",
            "https://never.origin.test/",
        ],
        18,
        &[
            "fetch: cannot use the proxy localhost:{proxy}: 0 bytes arrived from the peer in ",
            "; the minimum is 1 in 0.5 s\n",
        ],
    ),
    fails(
        "silent-sooner",
        &["--retries", "0", "--minimum-speed", "1/60", "--read-timeout", "0.5", "http://localhost:{http}/never"],
        12,
        &["fetch: nothing arrived from the peer for 0.5 s\n"],
    ),
    fails(
        "bad-speed",
        &["--minimum-speed", "1000", "http://localhost/"],
        2,
        &["fetch: --minimum-speed: BYTES/SECONDS"],
    ),
    fails(
        "bad-speed-seconds",
        &["--minimum-speed", "1/0", "http://localhost/"],
        2,
        &["fetch: --minimum-speed: BYTES/"],
    ),
    fails(
        "bad-speed-bytes",
        &["--minimum-speed", "-1/1", "http://localhost/"],
        2,
        &["fetch: --minimum-speed: BYTES/"],
    ),
];
