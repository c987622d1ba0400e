//! Cases about proxies: plaintext, over TLS, and TLS in TLS. tests/server/proxy.rs defines the proxy's behaviour.

use super::{Case, NOTHING, fails, get};

pub const ALL: &[Case] = &[
    // For an http URL, the proxy gets a request with the absolute URL.
    Case {
        name: "proxy",
        args: &["--proxy", "http://me:secret@localhost:{proxy}", "http://origin.test:81/echo?a=b"],
        out: &[
            "GET http://origin.test:81/echo?a=b\n",
            "\nHost: origin.test:81\n",
            "\nproxy-authorization: Basic bWU6c2VjcmV0\n",
        ],
        ..NOTHING
    },
    Case {
        name: "proxy-tls",
        args: &["-v", "--proxy", "https://localhost:{tlsproxy}/", "-d", "a=b", "http://origin.test/echo"],
        out: &["POST http://origin.test/echo\n", "\nContent-Length: 3\n", "\n\na=b"],
        err: &["connected to the proxy localhost:", "with TLS 1.3"],
        never: &["roxy-", "tunnel"],
        ..NOTHING
    },
    Case {
        name: "proxy-redirect",
        args: &[
            "--user",
            "me:secret",
            "--proxy",
            "http://a:b@localhost:{proxy}",
            "http://origin.test/redirect-other-port",
        ],
        out: &["GET http://127.0.0.1:", "/echo\n", "\nproxy-authorization: Basic YTpi\n"],
        never: &["\nauthorization", "secret"],
        ..NOTHING
    },
    // A proxy routes by the URL, and the server by Host, so both must name one host.
    fails(
        "proxy-own-host",
        &["-H", "Host: other.test", "--proxy", "http://localhost:{proxy}", "http://origin.test/echo"],
        2,
        &["fetch: header Host"],
    ),
    // Hosts that are reached without the proxy.
    Case {
        name: "no-proxy",
        args: &[
            "-v",
            "--no-proxy",
            "origin.test, 127.0.0.0/8",
            "--proxy",
            "http://localhost:{closed}",
            "http://127.0.0.1:{http}/echo",
        ],
        out: &["GET /echo\n"],
        never: &["proxy"],
        ..NOTHING
    },
    get(
        "no-proxy-tls",
        &["--no-proxy", "*", "--proxy", "https://localhost:{closed}", "https://localhost:{https}/hello"],
        "hello\n",
    ),
    Case {
        name: "no-proxy-for-others",
        args: &["--no-proxy", "other.test", "--proxy", "http://localhost:{proxy}", "http://origin.test/echo"],
        out: &["GET http://origin.test/echo\n"],
        ..NOTHING
    },
    Case {
        name: "no-proxy-redirect",
        args: &[
            "-v",
            "--no-proxy",
            "127.0.0.1",
            "--proxy",
            "http://a:b@localhost:{proxy}",
            "http://origin.test/redirect-other-port",
        ],
        out: &["GET /echo\n"],
        err: &["connected to the proxy localhost:{proxy}\n", "connected to 127.0.0.1:"],
        never: &["roxy-authorization", "YTpi"],
        ..NOTHING
    },
    // For an https URL, the proxy opens a tunnel.
    get("tunnel", &["--proxy", "http://localhost:{proxy}", "https://origin.test:{origin}/hello"], "hello\n"),
    Case {
        name: "tunnel-in-tls",
        args: &["-v", "--proxy", "https://localhost:{tlsproxy}", "https://origin.test:{origin}/hello"],
        body: Some("hello\n"),
        err: &[
            "connected to the proxy localhost:",
            "with TLS 1.3",
            "the proxy opened a tunnel to origin.test:",
            "connected to origin.test:",
            "inside the TLS session with the proxy",
        ],
        ..NOTHING
    },
    // Proxy credentials are neither sent to the origin server nor shown in the trace.
    Case {
        name: "tunnel-password",
        args: &[
            "-v",
            "--proxy",
            "https://me:pass%20word%40%3a@localhost:{tlsproxy}",
            "https://password.origin.test:{origin}/echo",
        ],
        out: &["GET /echo\n"],
        never: &["roxy-", "pass word", "pass%20word", "bWU6cGFzcyB3b3JkQDo="],
        ..NOTHING
    },
    Case {
        name: "tunnel-put",
        args: &[
            "-X",
            "PUT",
            "-d",
            "@{dir}/in",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/echo",
        ],
        files: &[("in", "from a file\n")],
        out: &["PUT /echo\n", "\nContent-Length: 12\n", "\n\nfrom a file\n"],
        ..NOTHING
    },
    Case {
        name: "tunnel-redirect",
        args: &[
            "-v",
            "--user",
            "me:secret",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/redirect-other-origin",
        ],
        out: &["GET /echo\n"],
        err: &["opened a tunnel to origin.test:", "opened a tunnel to 127.0.0.1:", "drops the header authorization"],
        never: &["uthorization:", "secret"],
        ..NOTHING
    },
    Case {
        name: "tunnel-ipv6",
        args: &["--proxy", "http://localhost:{proxy}", "https://[::1]:{https}/hello"],
        body: Some("hello\n"),
        shell: "\"$@\" && grep -q '^proxy CONNECT \\[::1\\]:{https} host$' '{requests}'",
        ..NOTHING
    },
    Case {
        shell: "\"$@\"; code=$?; grep -q '^proxy CONNECT default.test:443 host$' '{requests}' && exit $code",
        ..fails(
            "tunnel-default-port",
            &["--retries", "0", "--proxy", "http://localhost:{proxy}", "https://default.test/"],
            18,
            &["502 Bad Gateway"],
        )
    },
    // A 2xx response opens the tunnel, even if its headers announce a body or a 1xx response came first.
    get(
        "tunnel-framed",
        &["--proxy", "https://localhost:{tlsproxy}", "https://framed.origin.test:{origin}/hello"],
        "hello\n",
    ),
    get(
        "tunnel-interim",
        &["--proxy", "http://localhost:{proxy}", "https://interim.origin.test:{origin}/hello"],
        "hello\n",
    ),
    // A failure inside the tunnel is reported as a failure of the server, with the same message as without a proxy.
    fails(
        "tunnel-cut-length",
        &["--retries", "0", "--proxy", "https://localhost:{tlsproxy}", "https://origin.test:{origin}/cut-length"],
        15,
        &["fetch: the peer closed the connection after 10 of 100 bytes of the body; "],
    ),
    fails(
        "tunnel-cut-until-close",
        &[
            "--retries",
            "0",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/cut-until-close",
        ],
        15,
        &["fetch: "],
    ),
    fails(
        "tunnel-to-plain-http",
        &["--proxy", "https://localhost:{tlsproxy}", "https://origin.test:{http}/hello"],
        11,
        &["\"origin.test\" does not speak TLS"],
    ),
    fails(
        "tunnel-cut",
        &["--retries", "1", "--proxy", "https://localhost:{tlsproxy}", "https://cut.origin.test:{origin}/hello"],
        11,
        &["\"cut.origin.test\" closed the connection", "(attempt 2)"],
    ),
    fails(
        "tunnel-never",
        &[
            "--retries",
            "0",
            "--read-timeout",
            "1",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/never",
        ],
        12,
        &["fetch: "],
    )
    .within(3.0),
    fails(
        "tunnel-max-time",
        &["--max-time", "1", "--proxy", "https://localhost:{tlsproxy}", "https://origin.test:{origin}/never"],
        13,
        &["--max-time: "],
    )
    .within(3.0),
    // Each TLS layer verifies its own server name with its own trust anchors. A proxy that fails verification gets no
    // request.
    Case {
        shell: "\"$@\"; code=$?; grep -q 'CONNECT wrong-proxy' '{requests}' && exit 99; exit $code",
        ..fails(
            "wrong-name-at-proxy",
            &["--proxy", "https://localhost:{wrongproxy}", "https://wrong-proxy.origin.test:{origin}/hello"],
            18,
            &["cannot use the proxy localhost:", "\"localhost\"", " is for other.test"],
        )
    },
    fails(
        "wrong-name-at-origin",
        &["--proxy", "https://localhost:{tlsproxy}", "https://other.test:{origin}/hello"],
        8,
        &["\"other.test\"", " is for origin.test"],
    ),
    fails(
        "wrong-name-at-origin-in-clear",
        &["--proxy", "http://localhost:{proxy}", "https://localhost:{origin}/hello"],
        8,
        &["\"localhost\"", " is for origin.test"],
    ),
    fails(
        "untrusted-proxy",
        &[
            "--proxy-cacert",
            "{server}/ca.pem",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/hello",
        ],
        18,
        &[
            "cannot use the proxy",
            "issued by",
            "\n       to trust the authority \"CN=netlib proxy root\": --proxy-cacert FILE\n",
        ],
    ),
    fails(
        "untrusted-origin",
        &[
            "--cacert",
            "{server}/proxy-ca.pem",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://origin.test:{origin}/hello",
        ],
        9,
        &[
            "fetch: certificate",
            "issued by",
            "\n       to trust the authority \"CN=netlib test root\": --cacert FILE\n",
        ],
    ),
    get(
        "insecure-behind-a-proxy",
        &["--insecure", "--proxy", "https://localhost:{tlsproxy}", "https://other.test:{origin}/hello"],
        "hello\n",
    ),
    fails(
        "insecure-is-not-for-the-proxy",
        &["--insecure", "--proxy", "https://localhost:{wrongproxy}", "https://origin.test:{origin}/hello"],
        18,
        &["is for other.test"],
    ),
    // A proxy that has refused CONNECT gets no second request.
    fails(
        "tunnel-407",
        &["--proxy", "http://me:secret@localhost:{proxy}", "https://password.origin.test:{origin}/hello"],
        18,
        &[
            "the proxy answered CONNECT with 407 Proxy Authentication Required\n",
            "\n       to send credentials to the proxy: --proxy with a user and a password\n",
        ],
    )
    .silent_about(&["attempt", "secret", "bWU6c2VjcmV0"]),
    fails(
        "tunnel-403",
        &["--proxy", "https://localhost:{tlsproxy}", "https://forbidden.origin.test:{origin}/hello"],
        18,
        &["the proxy answered CONNECT with 403 Forbidden\n"],
    )
    .silent_about(&["attempt"]),
    fails(
        "tunnel-302",
        &["--proxy", "https://localhost:{tlsproxy}", "https://elsewhere.origin.test:{origin}/hello"],
        18,
        &["the proxy answered CONNECT with 302 Found\n"],
    )
    .silent_about(&["attempt"]),
    // If the proxy could not connect, the server has received nothing, so even a POST request is retried.
    fails(
        "tunnel-502",
        &[
            "--retries",
            "1",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://bad-gateway.origin.test:{origin}/hello",
        ],
        18,
        &["the proxy answered CONNECT with 502 Bad Gateway (attempt 2)"],
    ),
    Case {
        name: "tunnel-502-once",
        args: &[
            "-v",
            "-d",
            "a=b",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://bad-gateway-once.origin.test:{origin}/echo",
        ],
        out: &["POST /echo\n", "\n\na=b"],
        err: &[
            "502 Bad Gateway (NETLIB_PROXY_FAILED)",
            "(NETLIB_CONNECT_FAILED)",
            "from the counter \"connect\", 2 left",
        ],
        ..NOTHING
    },
    Case {
        name: "tunnel-hang-up-once",
        args: &[
            "-v",
            "-d",
            "a=b",
            "--proxy",
            "http://localhost:{proxy}",
            "https://hang-up-once.origin.test:{origin}/echo",
        ],
        out: &["POST /echo\n", "\n\na=b"],
        err: &[
            "the peer closed the connection without a response (NETLIB_PROXY_FAILED)",
            "(NETLIB_PROTOCOL)",
            "from the counter \"connect\", 2 left",
        ],
        ..NOTHING
    },
    fails(
        "tunnel-hang-up",
        &["--retries", "1", "--proxy", "https://localhost:{tlsproxy}", "https://hang-up.origin.test:{origin}/hello"],
        18,
        &["the server \"localhost\" closed the connection without a response (attempt 2)"],
    ),
    fails(
        "tunnel-half-head",
        &["--retries", "0", "--proxy", "http://localhost:{proxy}", "https://half-head.origin.test:{origin}/hello"],
        18,
        &["the peer closed the connection inside the response head, after "],
    ),
    fails(
        "tunnel-garbage",
        &["--retries", "0", "--proxy", "https://localhost:{tlsproxy}", "https://garbage.origin.test:{origin}/hello"],
        18,
        &["cannot use the proxy", "SSH"],
    ),
    fails(
        "tunnel-babble",
        &["--retries", "0", "--proxy", "https://localhost:{tlsproxy}", "https://babble.origin.test:{origin}/hello"],
        18,
        &["cannot use the proxy localhost:{tlsproxy}: the head has more than 2000 lines at byte "],
    ),
    fails(
        "tunnel-too-early",
        &["--retries", "0", "--proxy", "https://localhost:{tlsproxy}", "https://early.origin.test:{origin}/hello"],
        18,
        &["it sent 9 bytes through the tunnel before the client sent any"],
    ),
    fails(
        "tunnel-silence",
        &[
            "--retries",
            "0",
            "--read-timeout",
            "1",
            "--proxy",
            "http://localhost:{proxy}",
            "https://never.origin.test:{origin}/hello",
        ],
        18,
        &["cannot use the proxy localhost:{proxy}: nothing arrived from the peer for 1 s\n"],
    )
    .within(3.0),
    fails(
        "proxy-max-time",
        &["--max-time", "1", "--proxy", "https://localhost:{tlsproxy}", "https://never.origin.test:{origin}/hello"],
        13,
        &["--max-time: "],
    )
    .within(3.0),
    // No proxy listens at the address, or the server at the address is not a proxy.
    fails(
        "proxy-closed",
        &["--retries", "1", "--proxy", "https://localhost:{closed}", "http://origin.test/"],
        18,
        &["cannot use the proxy", "refused", "(attempt 2)"],
    ),
    fails(
        "proxy-connect-timeout",
        &["--retries", "0", "--connect-timeout", "1", "--proxy", "http://127.0.0.1:{full}", "http://origin.test/"],
        18,
        &["cannot use the proxy"],
    )
    .within(3.0),
    fails(
        "proxy-no-such-host",
        &["--retries", "0", "--proxy", "http://no-such-host.invalid", "http://origin.test/"],
        18,
        &["cannot use the proxy", "cannot resolve"],
    )
    .within(60.0),
    fails(
        "proxy-mute",
        &["--retries", "0", "--read-timeout", "1", "--proxy", "https://localhost:{mute}", "http://origin.test/"],
        18,
        &["cannot use the proxy"],
    )
    .within(3.0),
    fails(
        "proxy-without-tls",
        &["--proxy", "https://localhost:{proxy}", "https://origin.test:{origin}/hello"],
        18,
        &["cannot use the proxy", "does not speak TLS on this connection: it answered in plain HTTP"],
    ),
    fails(
        "proxy-with-tls",
        &["--retries", "0", "--proxy", "http://localhost:{tlsproxy}", "https://origin.test:{origin}/hello"],
        18,
        &["cannot use the proxy"],
    ),
    // Errors in the proxy options of the command line.
    fails("proxy-bare", &["--proxy", "localhost:{proxy}", "http://origin.test/"], 2, &["fetch: --proxy: "]),
    fails("proxy-socks", &["--proxy", "socks5://localhost", "http://origin.test/"], 2, &["fetch: --proxy: "]),
    fails("proxy-path", &["--proxy", "http://localhost/path", "http://origin.test/"], 2, &["no path"]),
    fails("proxy-no-host", &["--proxy", "http://me:secret@:1/", "http://origin.test/"], 2, &["fetch: --proxy: "])
        .silent_about(&["secret"]),
    fails("proxy-colon", &["--proxy", "http://m%3Ae:secret@localhost", "http://origin.test/"], 2, &["a colon"])
        .silent_about(&["secret"]),
    fails("proxy-nul", &["--proxy", "http://me:sec%00ret@localhost", "http://origin.test/"], 2, &["fetch: "])
        .silent_about(&["sec%00ret"]),
    fails(
        "proxy-header",
        &["-H", "Proxy-Authorization: Basic YTpi", "http://localhost:{http}/echo"],
        2,
        &["fetch sets this header itself"],
    ),
    fails(
        "no-proxy-ca-file",
        &["--proxy-cacert", "{dir}/none.pem", "--proxy", "https://localhost:{tlsproxy}", "http://origin.test/"],
        1,
        &["fetch: ", "none.pem"],
    )
    .silent_about(&["attempt"]),
];
