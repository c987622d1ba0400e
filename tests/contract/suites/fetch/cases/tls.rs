//! Cases about TLS options of the command line: identity, versions, trust and pins.

use super::{Case, NOTHING, fails, get};

const CLIENT: &str = "{certs}/client.pem";

/// An ECHConfigList with the public name localhost. No server has the private key of the ECHConfigList.
const ECH_LIST: &str = "ADz+DQA4BwAgACAJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQAEAAEAAUAJbG9jYWxob3N0AAA=";

pub const ALL: &[Case] = &[
    // Cases with client certificates.
    get("client", &["--cert", CLIENT, "--key", "{certs}/client.key", "https://localhost:{clients}/hello"], "hello\n"),
    Case {
        name: "client-in-one-file",
        args: &["--cert", "{dir}/both.pem", "https://localhost:{clients}/hello"],
        shell: "cat '{certs}/client.key' '{certs}/client.pem' > '{dir}/both.pem' && \"$@\"",
        body: Some("hello\n"),
        ..NOTHING
    },
    get(
        "client-pkcs12",
        &["--cert", "{certs}/pkcs12/openssl.p12", "--pass", "secret", "https://localhost:{clients}/hello"],
        "hello\n",
    ),
    fails(
        "client-pkcs12-no-password",
        &["--cert", "{certs}/pkcs12/openssl.p12", "https://localhost:{clients}/hello"],
        2,
        &["openssl.p12", "\n       to give the password: --pass PASSWORD or --pass-file FILE\n"],
    ),
    Case {
        name: "client-in-tunnel",
        args: &[
            "--cert",
            CLIENT,
            "--key",
            "{certs}/client.key",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://localhost:{clients}/hello",
        ],
        body: Some("hello\n"),
        ..NOTHING
    },
    fails(
        "client-nobody",
        &["--retries", "0", "https://localhost:{clients}/hello"],
        11,
        &["certificate_required", "\n       to present ", ": --cert FILE and --key FILE\n"],
    ),
    // After a redirect, fetch does not send the client certificate to another origin.
    fails(
        "client-redirected",
        &[
            "-v",
            "--retries",
            "0",
            "--cert",
            CLIENT,
            "--key",
            "{certs}/client.key",
            "https://localhost:{https}/redirect-to-clients",
        ],
        11,
        &["answered 302", "certificate_required"],
    ),
    get(
        "client-password",
        &[
            "--cert",
            CLIENT,
            "--key",
            "{certs}/client-encrypted.key",
            "--pass",
            "secret",
            "https://localhost:{clients}/hello",
        ],
        "hello\n",
    ),
    Case {
        files: &[("password", "secret\r\nand more\n")],
        ..get(
            "client-password-file",
            &[
                "--cert",
                CLIENT,
                "--key",
                "{certs}/client-encrypted.key",
                "--pass-file",
                "{dir}/password",
                "https://localhost:{clients}/hello",
            ],
            "hello\n",
        )
    },
    Case {
        shell: "printf secret | \"$@\"",
        ..get(
            "client-password-pipe",
            &[
                "--cert",
                CLIENT,
                "--key",
                "{certs}/client-encrypted.key",
                "--pass-file",
                "/dev/stdin",
                "https://localhost:{clients}/hello",
            ],
            "hello\n",
        )
    },
    fails(
        "client-no-password",
        &["--cert", CLIENT, "--key", "{certs}/client-encrypted.key", "https://localhost:{clients}/hello"],
        2,
        &["client-encrypted.key", "\n       to give the password: --pass PASSWORD or --pass-file FILE\n"],
    ),
    fails(
        "client-wrong-password",
        &[
            "--cert",
            CLIENT,
            "--key",
            "{certs}/client-encrypted.key",
            "--pass",
            "Secret",
            "https://localhost:{clients}/hello",
        ],
        2,
        &["client-encrypted.key"],
    )
    .silent_about(&["Secret"]),
    fails(
        "client-other-key",
        &["--cert", CLIENT, "--key", "{certs}/server.key", "https://localhost:{clients}/hello"],
        1,
        &["fetch: ", "server.key does not belong"],
    ),
    fails("client-no-file", &["--cert", "{dir}/none.pem", "https://localhost:{clients}/"], 1, &["none.pem: No such"]),
    fails("client-no-cert", &["--key", "{certs}/client.key", "https://localhost:{clients}/"], 2, &["fetch: --key"]),
    fails(
        "no-password-file",
        &["--cert", CLIENT, "--pass-file", "{dir}/none", "https://localhost:{clients}/"],
        2,
        &["fetch: --pass-file"],
    ),
    // Versions.
    Case {
        name: "tls-max",
        args: &["-v", "--tls-max", "1.2", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        err: &["with TLS 1.2, "],
        ..NOTHING
    },
    Case {
        name: "tls-max-1.3",
        args: &["-v", "--tls-max", "1.3", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        err: &["with TLS 1.3, "],
        ..NOTHING
    },
    Case {
        name: "server-max",
        args: &["-v", "https://localhost:{tls12}/hello"],
        body: Some("hello\n"),
        err: &["with TLS 1.2, "],
        ..NOTHING
    },
    fails(
        "tls-max-too-low",
        &["--tls-max", "1.2", "https://localhost:{tls13}/hello"],
        11,
        &["fetch: ", "version", "\n       to offer more: without --tls-max\n"],
    ),
    fails("tls-max-too-old", &["--tls-max", "1.1", "https://localhost:{https}/hello"], 2, &["fetch: --tls-max"]),
    // Cases about the options that select cipher suites.
    Case {
        name: "ciphers",
        args: &["-v", "--ciphers", "ECDHE+CHACHA20", "--tls-max", "1.2", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        err: &["with TLS 1.2, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"],
        ..NOTHING
    },
    Case {
        name: "ciphers-1.3",
        args: &["-v", "--ciphers", "TLS_AES_128_GCM_SHA256:NO-SUCH", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        err: &["--ciphers: unknown names: NO-SUCH", "with TLS 1.3, TLS_AES_128_GCM_SHA256"],
        ..NOTHING
    },
    fails("ciphers-none", &["--ciphers", "RC4", "https://localhost:{https}/hello"], 2, &["fetch: ", "ECDHE-"]),
    fails("ciphers-malformed", &["--ciphers", "!", "https://localhost:{https}/hello"], 2, &["fetch: "]),
    fails(
        "ciphers-of-others",
        &["--ciphers", "aRSA", "--tls-max", "1.2", "https://localhost:{https}/hello"],
        11,
        &["fetch: the server \"localhost\"", "\n       to offer more: without --ciphers and --tls-max\n"],
    ),
    // Cases about Encrypted Client Hello with a server that does not support Encrypted Client Hello.
    Case {
        shell: "\"$@\"; code=$?; grep -q 'hello?hidden' '{requests}' && exit 99; exit $code",
        ..fails(
            "ech-rejected",
            &["--ech", ECH_LIST, "https://localhost:{https}/hello?hidden"],
            11,
            &[
                "fetch: the server \"localhost\" rejected Encrypted Client Hello for \"localhost\"",
                "\n       to connect without Encrypted Client Hello, with a visible server name: without --ech\n",
            ],
        )
    },
    fails(
        "ech-malformed",
        &["--ech", "ADz+DQ", "https://localhost:{https}/hello"],
        2,
        &["fetch: config_list ends in the middle of the list (at byte 4)"],
    ),
    fails(
        "ech-with-1.2",
        &["--ech", ECH_LIST, "--tls-max", "1.2", "https://localhost:{https}/hello"],
        2,
        &["fetch: Encrypted Client Hello needs TLS 1.3"],
    ),
    // Cases about the options that select trust anchors.
    get(
        "capath",
        &["--cacert", "{server}/proxy-ca.pem", "--capath", "{server}/ca", "https://localhost:{https}/hello"],
        "hello\n",
    ),
    fails(
        "capath-is-for-servers",
        &[
            "--proxy-cacert",
            "{server}/ca.pem",
            "--capath",
            "{server}/ca",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "http://origin.test/",
        ],
        18,
        &["issued by"],
    ),
    fails("capath-missing", &["--capath", "{dir}/none", "https://localhost:{https}/hello"], 1, &["fetch: ", "/none"]),
    fails("capath-empty", &["--capath", "{dir}", "https://localhost:{https}/hello"], 1, &["fetch: ", "capath-empty"]),
    get("revoked-unasked", &["https://localhost:{revoked}/hello"], "hello\n"),
    get("not-revoked", &["--crlfile", "{server}/crl.pem", "https://localhost:{https}/hello"], "hello\n"),
    fails(
        "revoked",
        &["--crlfile", "{server}/crl.pem", "https://localhost:{revoked}/hello"],
        10,
        &["fetch: the certificate", "revoked"],
    ),
    // The CRL of the intermediate is missing; only the CRL of the root is given.
    Case {
        shell: "sed '/END/q' '{server}/crl.pem' > '{dir}/one.pem' && \"$@\"",
        ..fails(
            "crl-missing",
            &["--crlfile", "{dir}/one.pem", "https://localhost:{https}/hello"],
            10,
            &["fetch: ", "\n       to add ", ": --crlfile FILE\n"],
        )
    },
    fails("crl-none", &["--crlfile", "{certs}/ca.pem", "https://localhost:{https}/hello"], 1, &["fetch: ", "ca.pem"]),
    // Pins are compared with the verified chain or, without verification, with the server's own certificate.
    get("pin", &["--pin", "{sha256}", "https://localhost:{https}/hello"], "hello\n"),
    Case {
        name: "pin-of-key",
        args: &["--pin"],
        // The error message of a mismatch contains the pin that would match.
        shell: "pin=$(\"$@\" sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= https://localhost:{https}/hello 2>&1 | \
                sed -n 's/.*the pin of its key is //p' | cut -d' ' -f1) && \
                \"$@\" \"$pin\" --pin {sha256} https://localhost:{https}/hello && \
                \"$@\" \"$pin\" --insecure https://localhost:{https}/hello",
        body: Some("hello\nhello\n"),
        ..NOTHING
    },
    Case {
        name: "pin-in-tunnel",
        args: &["--pin", "{sha256}", "--proxy", "https://localhost:{tlsproxy}", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        ..NOTHING
    },
    Case {
        shell: "\"$@\"; code=$?; grep -q 'hello?other-pin' '{requests}' && exit 99; exit $code",
        ..fails(
            "pin-mismatch",
            &["--insecure", "--pin", "{sha256}", "https://localhost:{untrusted}/hello?other-pin"],
            10,
            &[
                "fetch: the certificate of ",
                " is not pinned: the pin of its key is sha256//",
                "\n       to accept it, ",
                ": --pin PIN\n",
            ],
        )
    },
    fails(
        "pin-mismatch-in-tunnel",
        &[
            "--pin",
            "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://localhost:{https}/hello",
        ],
        10,
        &[
            "fetch: the certificate of ",
            " is not pinned, and no authority above it is: the pin of its key is sha256//",
        ],
    ),
    Case {
        name: "pin-redirect",
        args: &["--pin", "{sha256}", "https://localhost:{https}/redirect-other-origin"],
        out: &["GET /echo\n"],
        ..NOTHING
    },
    fails("pin-http", &["--pin", "{sha256}", "http://localhost:{http}/hello"], 10, &["fetch: --pin: "]),
    fails(
        "pin-malformed",
        &["--pin", "12:34", "https://localhost:{https}/hello"],
        2,
        &["fetch: pin must have 64 hex digits"],
    ),
    // Fingerprints.
    get("fingerprint", &["--fingerprint", "{sha256}", "https://localhost:{https}/hello"], "hello\n"),
    Case {
        name: "fingerprint-as-openssl-writes-it",
        args: &["--fingerprint"],
        shell: "colons=$(printf %s {sha256} | tr a-f A-F | sed 's/../&:/g; s/:$//') && \
                \"$@\" \"$colons\" https://localhost:{https}/hello",
        body: Some("hello\n"),
        ..NOTHING
    },
    get(
        "fingerprint-is-all",
        &["--insecure", "--fingerprint", "{sha256}", "--tls-max", "1.2", "https://localhost:{https}/hello"],
        "hello\n",
    ),
    Case {
        name: "fingerprint-in-tunnel",
        args: &[
            "--fingerprint",
            "{sha256}",
            "--proxy",
            "https://localhost:{tlsproxy}",
            "https://localhost:{https}/hello",
        ],
        body: Some("hello\n"),
        ..NOTHING
    },
    // A server whose certificate does not match the pin gets no request, even without verification or after a redirect.
    Case {
        shell: "\"$@\"; code=$?; grep -q 'hello?pinned' '{requests}' && exit 99; exit $code",
        ..fails(
            "fingerprint-mismatch",
            &["--insecure", "--fingerprint", "{sha256}", "https://localhost:{untrusted}/hello?pinned"],
            10,
            &["fetch: the certificate's SHA-256 fingerprint is ", "; expected: "],
        )
    },
    Case {
        name: "fingerprint-redirect",
        args: &["--fingerprint", "{sha256}", "https://localhost:{https}/redirect-other-origin"],
        out: &["GET /echo\n"],
        ..NOTHING
    },
    Case {
        shell: "\"$@\"; code=$?; grep -q 'hello?pinned-http' '{requests}' && exit 99; exit $code",
        ..fails(
            "fingerprint-http",
            &["--fingerprint", "{sha256}", "http://localhost:{http}/hello?pinned-http"],
            10,
            &["fetch: --fingerprint: "],
        )
    },
    fails(
        "fingerprint-malformed",
        &["-v", "--fingerprint", "12:34", "https://127.0.0.1:{closed}/"],
        2,
        &["fetch: --fingerprint: fingerprint must have 32 (MD5), 40 (SHA-1) or 64 (SHA-256) hex digits; it has 4 ("],
    )
    .silent_about(&["attempt 1"]),
    fails(
        "fingerprint-no-hex",
        &["--fingerprint", "sha256//AAAA", "http://127.0.0.1:{closed}/"],
        2,
        &["fetch: --fingerprint: fingerprint has a character other than hex digits and colons at byte 0 ("],
    ),
];
