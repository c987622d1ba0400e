//! Cases about address selection: racing addresses, and addresses that the policy refuses.

use super::{Case, NOTHING, fails, get};

pub const ALL: &[Case] = &[
    // After a refused connection, fetch tries the next address at once; the error message lists all addresses.
    Case {
        name: "resolve",
        args: &["-v", "--resolve", "name.test:{http}:127.0.0.2,127.0.0.3,127.0.0.1", "http://NAME.test:{http}/hello"],
        body: Some("hello\n"),
        err: &[
            "*   127.0.0.2 port {http}, 0.0",
            "*   127.0.0.3 port {http}, 0.0",
            " s: Connection refused\n*   127.0.0.1 port {http}, 0.0",
            " s: connected\n*   connected to name.test:{http}\n",
        ],
        never: &["attempt 2"],
        ..NOTHING
    },
    // If an address does not answer, the attempt to the next address starts 250 ms later and succeeds.
    Case {
        name: "resolve-silent",
        args: &[
            "-v",
            "--connect-timeout",
            "60",
            "--resolve",
            "half.test:{half}:127.0.0.1,127.0.0.2",
            "http://half.test:{half}/hello",
        ],
        body: Some("hello\n"),
        err: &[
            "*   127.0.0.1 port {half}, 0.000 to ",
            " s: closed, another attempt was faster\n*   127.0.0.2 port {half}, 0.2",
            " s: connected\n",
        ],
        never: &["attempt 2"],
        seconds: (0.25, 10.0),
        ..NOTHING
    },
    // The certificate must match the host name, even if --resolve sets the address.
    get(
        "resolve-tls",
        &["--resolve", "origin.test:{origin}:127.0.0.1", "https://origin.test:{origin}/hello"],
        "hello\n",
    ),
    fails(
        "resolve-tls-name",
        &["--resolve", "other.test:{origin}:127.0.0.1", "https://other.test:{origin}/hello"],
        8,
        &["origin.test"],
    ),
    // If several --resolve options name the same host and port, the last one counts. --resolve does not affect other
    // ports of the host.
    get(
        "resolve-twice",
        &[
            "--resolve",
            "name.test:{http}:[::1]",
            "--resolve",
            "name.test:{http}:[::1],127.0.0.1",
            "--resolve",
            "name.test:{closed}:127.0.0.2",
            "http://name.test:{http}/hello",
        ],
        "hello\n",
    ),
    fails(
        "resolve-closed",
        &["--retries", "0", "--resolve", "name.test:{closed}:127.0.0.2,127.0.0.1", "http://name.test:{closed}/"],
        5,
        &["fetch: cannot connect to name.test port {closed}, 2 addresses tried, the last: Connection refused\n"],
    ),
    Case {
        name: "resolve-proxy",
        args: &[
            "--resolve",
            "proxy.test:{proxy}:127.0.0.1",
            "--proxy",
            "http://proxy.test:{proxy}",
            "http://origin.test/echo",
        ],
        out: &["GET http://origin.test/echo\n"],
        ..NOTHING
    },
    fails("bad-resolve", &["--resolve", "name.test:80", "http://name.test/"], 2, &["fetch: --resolve"]),
    fails("bad-resolve-port", &["--resolve", "name.test:0:127.0.0.1", "http://name.test/"], 2, &["--resolve"]),
    fails("bad-resolve-host", &["--resolve", ":80:127.0.0.1", "http://name.test/"], 2, &["--resolve"]),
    fails("bad-resolve-address", &["--resolve", "name.test:80:127.0.0.1,", "http://name.test/"], 2, &["--resolve"]),
    fails(
        "bad-resolve-number",
        &["--resolve", "name.test:80:0x7f.1", "http://name.test/"],
        2,
        &["--resolve: HOST:PORT:ADDRESS"],
    ),
    // A forbidden address is refused at once, in every spelling and for every name that resolves to it.
    fails(
        "refuse-loopback",
        &["-v", "--refuse-addresses", "loopback", "http://localhost:{http}/hello"],
        19,
        &["s: not tried because of --refuse-addresses\n", "the address policy refuses ", ": loopback\n"],
    )
    .silent_about(&["attempt 2", "connected"]),
    fails(
        "refuse-number",
        &["--refuse-addresses", "private,loopback", "http://0x7f.1:{http}/hello"],
        19,
        &["refuses 127.0.0.1: loopback\n"],
    ),
    fails(
        "refuse-mapped",
        &["--refuse-addresses", "private", "--refuse-addresses", "loopback", "https://[::ffff:127.0.0.1]:{https}/"],
        19,
        &["refuses ::ffff:127.0.0.1: loopback\n"],
    ),
    fails(
        "refuse-all-but-global",
        &["--refuse-addresses", "all-but-global", "http://0.0.0.0:{http}/hello"],
        19,
        &["refuses 0.0.0.0: unspecified\n"],
    ),
    get(
        "refuse-others",
        &["--refuse-addresses", "metadata,private,global", "http://127.0.0.1:{http}/hello"],
        "hello\n",
    ),
    // If the policy refuses one address of a host, fetch tries the other addresses.
    Case {
        name: "refuse-some",
        args: &[
            "-v",
            "--refuse-addresses",
            "private",
            "--resolve",
            "name.test:{http}:10.0.0.1,192.168.0.1,127.0.0.1",
            "http://name.test:{http}/hello",
        ],
        body: Some("hello\n"),
        err: &[
            "*   10.0.0.1 port {http}, 0.0",
            " s: not tried because of --refuse-addresses\n*   192.168.0.1 port {http}, 0.0",
            " s: not tried because of --refuse-addresses\n*   127.0.0.1 port {http}, 0.0",
            " s: connected\n",
        ],
        ..NOTHING
    },
    // Redirects to a forbidden address, to an IPv6 address that embeds a forbidden one, and to a name that resolves to
    // a forbidden address.
    fails(
        "refuse-redirect",
        &["-v", "--refuse-addresses", "private", "http://127.0.0.1:{http}/redirect-to-private"],
        19,
        &[
            "attempt 2: GET http://10.0.0.1/\n",
            "fetch: cannot connect to 10.0.0.1 port 80: the address policy refuses",
        ],
    )
    .silent_about(&["attempt 3"]),
    fails(
        "refuse-redirect-metadata",
        &["--refuse-addresses", "metadata", "http://127.0.0.1:{http}/redirect-to-metadata"],
        19,
        &["refuses ::ffff:169.254.169.254: metadata (attempt 2)\n"],
    ),
    fails(
        "refuse-redirect-name",
        &[
            "--refuse-addresses",
            "private",
            "--resolve",
            "inside.test:80:192.168.0.1,fd00::1",
            "http://127.0.0.1:{http}/redirect-to-inside",
        ],
        19,
        &["cannot connect to inside.test port 80, 2 addresses refused, ", " refuses fd00::1: private (attempt 2)\n"],
    ),
    // If fetch uses a proxy, the policy applies to the proxy's address.
    fails(
        "refuse-proxy",
        &["--refuse-addresses", "loopback", "--proxy", "http://localhost:{proxy}", "http://origin.test/echo"],
        19,
        &["cannot connect to localhost port {proxy}", ": loopback\n"],
    ),
    Case {
        name: "refuse-through-proxy",
        args: &["--refuse-addresses", "private", "--proxy", "http://localhost:{proxy}", "http://10.0.0.1/echo"],
        out: &["GET http://10.0.0.1/echo\n"],
        ..NOTHING
    },
    fails("bad-class", &["--refuse-addresses", "loopback,", "http://localhost/"], 2, &["fetch: --refuse-addresses"]),
];
