//! The cases of fetch: command line and expected result.

mod addresses;
mod proxy;
mod sockets;
mod tls;

/// A test case of fetch. The suite does not check fields that are empty.
pub struct Case {
    pub name: &'static str,
    /// The arguments, in which `Harness::fill_in` replaces placeholders. Every run also trusts the CAs of the servers and
    /// proxies.
    pub args: &'static [&'static str],
    /// The files that are created in the case's directory before the run.
    pub files: &'static [(&'static str, &'static str)],
    /// A shell script that runs fetch as "$@", with placeholders as in `args`.
    pub shell: &'static str,
    pub code: i32,
    /// The expected standard output, complete.
    pub body: Option<&'static str>,
    /// Texts that standard output (`out`) and standard error (`err`) must contain, with placeholders as in `args`.
    pub out: &'static [&'static str],
    pub err: &'static [&'static str],
    /// Texts that neither standard output nor standard error may contain.
    pub never: &'static [&'static str],
    /// The expected contents of files in the case's directory after the run; `None` if the file must not exist.
    pub leaves: &'static [(&'static str, Option<&'static str>)],
    /// The minimum and maximum duration in seconds. Under valgrind neither the duration nor the texts are checked.
    pub seconds: (f64, f64),
}

const NOTHING: Case = Case {
    name: "",
    args: &[],
    files: &[],
    shell: "",
    code: 0,
    body: None,
    out: &[],
    err: &[],
    never: &[],
    leaves: &[],
    seconds: (0.0, 10.0),
};

/// A case that must succeed: the arguments of fetch, and the complete expected output.
const fn get(name: &'static str, args: &'static [&'static str], body: &'static str) -> Case {
    Case { name, args, body: Some(body), ..NOTHING }
}

/// A case that must fail: the exit code, and texts that the error message must contain.
const fn fails(name: &'static str, args: &'static [&'static str], code: i32, err: &'static [&'static str]) -> Case {
    Case { name, args, code, err, ..NOTHING }
}

pub fn all() -> Vec<&'static Case> {
    [HTTP, addresses::ALL, proxy::ALL, sockets::ALL, tls::ALL].into_iter().flatten().collect()
}

const HTTP: &[Case] = &[
    // Framing.
    get("http", &["http://localhost:{http}/hello"], "hello\n"),
    get("https", &["https://localhost:{https}/hello"], "hello\n"),
    get("https-by-address", &["https://127.0.0.1:{https}/hello"], "hello\n"),
    get("chunked", &["https://localhost:{https}/chunked"], "hello, chunked world\n"),
    get("chunked-http", &["http://localhost:{http}/chunked"], "hello, chunked world\n"),
    get("until-close", &["https://localhost:{https}/until-close"], "until the end\n"),
    get("until-close-http", &["http://localhost:{http}/until-close"], "until the end\n"),
    get("http10", &["https://localhost:{https}/http10"], "from the past\n"),
    get("interim", &["https://localhost:{https}/interim"], "final\n"),
    get("empty", &["https://localhost:{https}/empty"], ""),
    get("zero", &["https://localhost:{https}/zero"], ""),
    get("no-goodbye", &["https://localhost:{https}/no-goodbye"], "hello\n"),
    get("head", &["-X", "HEAD", "https://localhost:{https}/large"], ""),
    Case {
        name: "to-file",
        args: &["-o", "{dir}/out", "https://localhost:{https}/hello"],
        files: &[("out", "a longer text that was here before\n")],
        body: Some(""),
        leaves: &[("out", Some("hello\n")), ("out.part", None)],
        ..NOTHING
    },
    get("to-device", &["-o", "/dev/stdout", "https://localhost:{https}/hello"], "hello\n"),
    fails("no-path", &["http://localhost:{http}"], 22, &["answered 404"]),
    // Requests.
    Case {
        name: "headers",
        args: &["-H", "X-Test: one two", "-H", "user-agent:me", "--user", "a:b", "http://localhost:{http}/echo?a=b"],
        out: &[
            "GET /echo?a=b\n",
            "\nHost: localhost:",
            "\nX-Test: one two\n",
            "\nuser-agent: me\n",
            "\nauthorization: Basic YTpi\n",
            "\nConnection: close\n",
        ],
        never: &["fetch/"],
        ..NOTHING
    },
    Case {
        name: "query",
        args: &[
            "--query",
            "a=1+1 & 2",
            "--query",
            "wsdl",
            "--query",
            "b=",
            "--query",
            "c==#",
            "http://localhost:{http}/echo?x=y%20z#fragment",
        ],
        out: &["GET /echo?x=y+z&a=1%2B1+%26+2&wsdl&b=&c=%3D%23\n"],
        ..NOTHING
    },
    get("query-of-a-url-without-one", &["--query", "get", "http://localhost:{http}/hello"], "hello\n"),
    Case {
        name: "own-host",
        args: &["-H", "Host: other.test", "http://localhost:{http}/echo"],
        out: &["\nHost: other.test\n"],
        never: &["Host: localhost"],
        ..NOTHING
    },
    Case {
        name: "post",
        args: &["-d", "a=b", "http://localhost:{http}/echo"],
        out: &[
            "POST /echo\n",
            "\ncontent-type: application/x-www-form-urlencoded\n",
            "\nContent-Length: 3\n",
            "\n\na=b",
        ],
        ..NOTHING
    },
    Case {
        name: "post-nothing",
        args: &["-X", "POST", "http://localhost:{http}/echo"],
        out: &["POST /echo\n", "\nContent-Length: 0\n"],
        never: &["content-type"],
        ..NOTHING
    },
    Case {
        name: "post-file",
        args: &["-H", "Content-Type: text/plain", "-d", "@{dir}/in", "https://localhost:{https}/echo"],
        files: &[("in", "from a file\n")],
        out: &["POST /echo\n", "\nContent-Type: text/plain\n", "\nContent-Length: 12\n", "\n\nfrom a file\n"],
        never: &["urlencoded"],
        ..NOTHING
    },
    Case {
        name: "put-pipe",
        args: &["-X", "PUT", "-d", "@/dev/stdin", "https://localhost:{https}/echo"],
        shell: "printf 'through a pipe' | \"$@\"",
        out: &["PUT /echo\n", "\nTransfer-Encoding: chunked\n", "\n\nthrough a pipe"],
        ..NOTHING
    },
    // --max-time also ends the wait for a pipe that delivers the request body.
    Case {
        shell: "mkfifo '{dir}/pipe' && { sleep 9 > '{dir}/pipe' & \"$@\"; code=$?; kill $!; exit $code; }",
        ..fails(
            "put-pipe-max-time",
            &["--max-time", "1", "-X", "PUT", "-d", "@{dir}/pipe", "http://localhost:{http}/echo"],
            13,
            &["fetch: --max-time: "],
        )
    }
    .within(4.0),
    // A retry sends the request body again, which fails if the body is read from a pipe.
    get("hang-up-once", &["-X", "HEAD", "https://localhost:{https}/hang-up-once"], ""),
    Case {
        name: "reset-after-head",
        args: &["-v", "-X", "PUT", "-d", "0123456789", "https://localhost:{https}/reset-after-head"],
        out: &["PUT /reset-after-head\n", "\n\n0123456789"],
        err: &["attempt 2", "from the counter \"read\", 2 left"],
        ..NOTHING
    },
    Case {
        name: "reset-mid-request",
        args: &["-X", "PUT", "-d", "@{dir}/in", "https://localhost:{https}/reset-mid-request"],
        files: &[("in", "from a file\n")],
        out: &["PUT /reset-mid-request\n", "\nContent-Length: 12\n", "\n\nfrom a file\n"],
        ..NOTHING
    },
    Case {
        name: "reset-after-request",
        args: &["-X", "PUT", "-d", "@{dir}/in", "http://localhost:{http}/reset-after-request"],
        files: &[("in", "from a file\n")],
        out: &["PUT /reset-after-request\n", "\nContent-Length: 12\n", "\n\nfrom a file\n"],
        ..NOTHING
    },
    Case {
        name: "pipes-do-not-rewind",
        shell: "printf 'through a pipe' | \"$@\"",
        ..fails(
            "pipes-do-not-rewind",
            &["-X", "PUT", "-d", "@/dev/stdin", "http://localhost:{http}/reset-after-request?pipe"],
            17,
            &["fetch: "],
        )
    },
    // If no byte of the request body has been read, a retry needs no rewind, so the body may be read from a pipe.
    Case {
        shell: "printf 'through a pipe' | \"$@\"",
        ..fails(
            "put-pipe-closed",
            &["-X", "PUT", "-d", "@/dev/stdin", "http://127.0.0.1:{closed}/"],
            5,
            &["refused (attempt 4)"],
        )
    },
    // A POST request may have had an effect, so fetch does not send it twice.
    fails(
        "post-hang-up",
        &["-v", "-d", "x", "http://localhost:{http}/hang-up-once?post"],
        14,
        &["closed the connection without a response"],
    ),
    fails(
        "post-garbled",
        &["-v", "-d", "x", "https://localhost:{https}/garble-once?post"],
        11,
        &["could not be decrypted"],
    ),
    Case {
        name: "garbled-once",
        args: &["-v", "https://localhost:{https}/garble-once"],
        body: Some("hello\n"),
        err: &["could not be decrypted", "from the counter \"read\", 2 left"],
        ..NOTHING
    },
    Case {
        name: "busy-once",
        args: &["-v", "https://localhost:{https}/busy-once"],
        body: Some("hello\n"),
        err: &["answered 503", "from the counter \"status\", 2 left", "waits 1 s: the server asked for it"],
        seconds: (1.0, 10.0),
        ..NOTHING
    },
    Case {
        name: "busy-for-ever",
        args: &["--retries", "1", "https://localhost:{https}/busy"],
        code: 22,
        body: Some("busy\n"),
        err: &["fetch: the server answered 503\n"],
        ..NOTHING
    },
    Case {
        body: Some("busy\n"),
        ..fails("post-busy", &["-d", "x", "https://localhost:{https}/busy-once?post"], 22, &["answered 503"])
    },
    // fetch never waits longer than --max-time before a retry.
    fails(
        "come-back-in-a-minute",
        &["--max-time", "9", "https://localhost:{https}/come-back-in-a-minute"],
        13,
        &["fetch: --max-time: "],
    )
    .within(5.0),
    // fetch does not retry if Retry-After asks for more than 120 s, and ignores an invalid Retry-After.
    Case {
        body: Some("busy\n"),
        ..fails(
            "come-back-tomorrow",
            &["-v", "https://localhost:{https}/come-back-tomorrow"],
            22,
            &[
                "no retry: the server asked for a delay of 86400 s, more than 120 s",
                "fetch: the server answered 503\n",
            ],
        )
    }
    .within(5.0),
    Case {
        body: Some("busy\n"),
        ..fails(
            "bad-retry-after",
            &["-v", "https://localhost:{https}/bad-retry-after"],
            22,
            &["attempt 4: ", ": exponential backoff", "fetch: the server answered 503\n"],
        )
    },
    Case { body: Some("none\n"), ..fails("missing", &["http://localhost:{http}/missing"], 22, &["answered 404"]) },
    // fetch never treats a truncated response body as complete.
    Case {
        name: "cut-once",
        args: &["-o", "{dir}/out", "https://localhost:{https}/cut-once"],
        body: Some(""),
        leaves: &[("out", Some("hello\n")), ("out.part", None)],
        ..NOTHING
    },
    Case {
        body: Some("only this, more than the whole\n"),
        ..fails(
            "cut-once-to-stdout",
            &["https://localhost:{https}/cut-once?stdout"],
            15,
            &["the output has only the first 31 bytes"],
        )
    },
    Case {
        files: &[("out", "from before\n")],
        leaves: &[("out", Some("from before\n")), ("out.part", None)],
        ..fails(
            "cut-length",
            &["-v", "-o", "{dir}/out", "http://localhost:{http}/cut-length"],
            15,
            &["after 10 of 100 bytes of the body (attempt 4)\n"],
        )
    },
    fails(
        "cut-length-https",
        &["--retries", "0", "https://localhost:{https}/cut-length"],
        15,
        &[
            "fetch: the peer closed the connection after 10 of 100 bytes of the body; the output has only the first 10 ",
        ],
    ),
    fails(
        "cut-chunked",
        &["--retries", "0", "https://localhost:{https}/cut-chunked"],
        15,
        &["fetch: the peer closed the connection inside a chunked body, after 14 bytes; "],
    ),
    fails(
        "cut-between-chunks",
        &["--retries", "0", "https://localhost:{https}/cut-between-chunks"],
        15,
        &["fetch: the peer closed the connection inside a chunked body, after 15 bytes; "],
    ),
    fails("cut-until-close", &["--retries", "0", "https://localhost:{https}/cut-until-close"], 15, &["fetch: "]),
    fails(
        "reset-mid-body",
        &["--retries", "0", "https://localhost:{https}/reset-mid-body"],
        14,
        &["fetch: ", "reset"],
    ),
    fails(
        "bad-chunk",
        &["--retries", "0", "https://localhost:{https}/bad-chunk"],
        14,
        &["\"x\" is not allowed in a chunk size at byte 0\n"],
    ),
    fails(
        "huge-chunk",
        &["--retries", "0", "https://localhost:{https}/huge-chunk"],
        14,
        &["a chunk size has more than 16 digits at byte 16\n"],
    ),
    fails(
        "blank-after-chunk-size",
        &["--retries", "0", "https://localhost:{https}/blank-after-chunk-size"],
        14,
        &["a space is not allowed in a chunk size at byte 1\n"],
    ),
    fails(
        "overlong-chunk",
        &["--retries", "0", "https://localhost:{https}/overlong-chunk"],
        14,
        &["\"c\" follows the data of a chunk; CRLF must follow at byte 5; "],
    ),
    // Redirects.
    Case {
        name: "redirect",
        args: &["--user", "a:b", "https://localhost:{https}/redirect"],
        out: &["GET /echo\n", "\nauthorization: Basic YTpi\n"],
        ..NOTHING
    },
    Case {
        name: "redirect-303",
        args: &["-v", "-d", "a=b", "https://localhost:{https}/redirect-303"],
        out: &["GET /echo\n"],
        err: &["drops the body", "drops the header content-type", "from the counter \"redirect\", 9 left"],
        never: &["ontent-Length: 3", "\n\na=b", "urlencoded"],
        ..NOTHING
    },
    Case {
        name: "redirect-post-302",
        args: &["-d", "a=b", "https://localhost:{https}/redirect"],
        out: &["GET /echo\n"],
        never: &["ontent-Length", "urlencoded", "\n\na=b"],
        ..NOTHING
    },
    Case {
        name: "redirect-post-307",
        args: &["-d", "@{dir}/in", "https://localhost:{https}/redirect-307"],
        files: &[("in", "from a file\n")],
        out: &["POST /echo\n", "\nContent-Length: 12\n", "\n\nfrom a file\n"],
        ..NOTHING
    },
    Case {
        name: "redirect-other-origin",
        args: &[
            "--user",
            "a:b",
            "-H",
            "Cookie: c=d",
            "-H",
            "X-Api-Key: secret",
            "-H",
            "X-Harmless: e",
            "https://localhost:{https}/redirect-other-origin",
        ],
        out: &["GET /echo\n", "\nHost: 127.0.0.1:", "\nX-Harmless: e\n"],
        never: &["uthorization", "ookie", "Api-Key", "YTpi", "secret"],
        ..NOTHING
    },
    Case {
        name: "redirect-other-port",
        args: &[
            "--user",
            "a:b",
            "-H",
            "Host: other.test",
            "-d",
            "a=b",
            "http://127.0.0.1:{http}/redirect-other-port",
        ],
        out: &["POST /echo\n", "\nHost: 127.0.0.1:", "\n\na=b"],
        never: &["uthorization", "other.test"],
        ..NOTHING
    },
    fails("redirect-loop", &["http://localhost:{http}/redirect-loop"], 16, &["too many redirects", "(attempt 11)"]),
    fails("redirect-to-plain", &["https://localhost:{https}/redirect-to-plain"], 16, &["https to http"]),
    fails(
        "redirect-to-gopher",
        &["https://localhost:{https}/redirect-to-gopher"],
        16,
        &["a scheme other than http and https"],
    ),
    get("redirect-nowhere", &["https://localhost:{https}/redirect-nowhere"], ""),
    // Servers to which no connection can be made.
    fails("no-such-host", &["--retries", "0", "http://no-such-host.invalid/"], 4, &["no-such-host.invalid"])
        .within(60.0),
    fails("closed", &["http://127.0.0.1:{closed}/"], 5, &["fetch: ", "refused", "(attempt 4)"]),
    fails(
        "connect-timeout",
        &["--retries", "0", "--connect-timeout", "1", "http://127.0.0.1:{full}/"],
        6,
        &["fetch: "],
    )
    .within(3.0),
    // Certificates.
    fails("expired", &["https://localhost:{expired}/hello"], 7, &["fetch: ", "expired"]),
    fails("wrong-host", &["https://localhost:{wronghost}/hello"], 8, &["fetch: ", "localhost"]),
    fails("untrusted", &["https://localhost:{untrusted}/hello"], 9, &["fetch: ", "issued by"]),
    get("insecure-expired", &["--insecure", "https://localhost:{expired}/hello"], "hello\n"),
    get("insecure-wrong-host", &["--insecure", "https://localhost:{wronghost}/hello"], "hello\n"),
    get("insecure-untrusted", &["--insecure", "https://localhost:{untrusted}/hello"], "hello\n"),
    fails(
        "no-ca-file",
        &["--cacert", "{dir}/none.pem", "https://localhost:{https}/hello"],
        1,
        &["fetch: ", "none.pem"],
    ),
    Case {
        files: &[("ca.pem", "nothing of use\n")],
        ..fails(
            "bad-ca-file",
            &["--cacert", "{dir}/ca.pem", "https://localhost:{https}/hello"],
            1,
            &["fetch: ", "ca.pem"],
        )
    },
    fails("not-tls", &["https://localhost:{http}/hello"], 11, &["fetch: "]),
    fails("tls-in-clear", &["--retries", "0", "http://localhost:{https}/hello"], 14, &["fetch: "]),
    // Peers that send nothing.
    fails("never", &["--retries", "0", "--read-timeout", "1", "https://localhost:{https}/never"], 12, &["fetch: "])
        .within(3.0),
    fails(
        "never-http",
        &["--retries", "0", "--read-timeout", "1", "http://localhost:{http}/never"],
        12,
        &["nothing arrived from the peer for 1 s"],
    )
    .within(3.0),
    fails("mute", &["--retries", "0", "--read-timeout", "1", "https://localhost:{mute}/"], 12, &["fetch: "])
        .within(3.0),
    fails("never-max-time", &["--max-time", "1", "https://localhost:{https}/never"], 13, &["--max-time: "])
        .within(3.0),
    fails(
        "drip",
        &["--max-time", "2", "https://localhost:{https}/drip"],
        13,
        &["--max-time: ", "has only the first"],
    )
    .within(4.0),
    fails(
        "drip-http",
        &["--max-time", "2", "http://localhost:{http}/drip"],
        13,
        &["--max-time: ", "has only the first"],
    )
    .within(4.0),
    Case {
        // The signal arrives while fetch waits for the response: the server has received the request.
        shell: "\"$@\" & until grep -q 'never?interrupted' '{requests}'; do sleep 0.1; done; kill -TERM $!; wait $!",
        ..fails("interrupted", &["https://localhost:{https}/never?interrupted"], 130, &["fetch: ", "cancelled"])
    }
    .within(4.0),
    // Responses that are not HTTP.
    fails("garbage", &["--retries", "0", "https://localhost:{https}/garbage"], 14, &["fetch: "]),
    fails(
        "half-head",
        &["--retries", "0", "https://localhost:{https}/half-head"],
        14,
        &["closed the connection inside the response head, after "],
    ),
    fails(
        "hang-up",
        &["-v", "http://localhost:{http}/hang-up"],
        14,
        &["the peer closed the connection without a response (attempt 4)", "exponential"],
    ),
    fails("bad-length", &["--retries", "0", "https://localhost:{https}/bad-length"], 14, &["fetch: "]),
    // Errors in the command line.
    Case { out: &["usage: fetch", "exit codes:\n    0  ", "\n  130  "], ..get_any("help", &["--help"]) },
    fails("no-url", &[], 2, &["fetch: URL"]),
    fails("two-urls", &["http://localhost/", "http://localhost/"], 2, &["fetch: URL"]),
    fails("bad-number", &["--retries", "many", "http://localhost/"], 2, &["fetch: --retries"]),
    fails("bad-seconds", &["--max-time", "-1", "http://localhost/"], 2, &["fetch: --max-time"]),
    fails(
        "bad-method",
        &["-v", "-X", "GET / HTTP/1.1", "http://localhost:{http}/"],
        2,
        &["fetch: a method must be letters, digits and ", "; byte 3 is not\n"],
    )
    .silent_about(&["connected"]),
    fails("connect-method", &["-X", "CONNECT", "http://localhost:{http}/"], 2, &["needs the authority form\n"]),
    fails("bad-host", &["-H", "Host: a b", "http://localhost:{http}/echo"], 2, &["fetch: header Host: a space "]),
    fails("bad-header", &["-H", "no colon", "http://localhost/"], 2, &["fetch: -H"]),
    fails("injected-header", &["-H", "A: b\r\nC: d", "http://localhost:{http}/echo"], 2, &["fetch: "]),
    fails("framing-header", &["-H", "Content-Length: 3", "http://localhost:{http}/echo"], 2, &["Content-Length"]),
    fails("no-data-file", &["-d", "@{dir}/none", "http://localhost:{http}/echo"], 1, &["none: No such file"]),
    fails("no-output-directory", &["-o", "{dir}/none/out", "http://localhost:{http}/hello"], 1, &["No such file"]),
    fails("full-device", &["-o", "/dev/full", "http://localhost:{http}/hello"], 1, &["cannot write /dev/full"]),
    fails("bad-url", &["http://[/"], 3, &["fetch: "]),
    fails("other-scheme", &["ftp://localhost/"], 3, &["fetch: "]),
    fails("empty-query", &["--query", "", "http://localhost/"], 2, &["fetch: --query: NAME=VALUE is needed"]),
    fails("no-scheme", &["localhost/"], 3, &["fetch: "]),
    fails("credentials-in-url", &["http://me:secret@localhost/"], 3, &["--user"]).silent_about(&["secret"]),
    Case {
        name: "trace-has-no-credentials",
        args: &["-v", "--user", "me:secret", "https://localhost:{https}/hello"],
        body: Some("hello\n"),
        err: &[
            "attempt 1: GET https://localhost:",
            "connected to localhost:",
            " with TLS 1.3, TLS_",
            "answered 200 OK",
            "complete: 6 bytes",
        ],
        never: &["secret", "bWU6c2VjcmV0"],
        ..NOTHING
    },
];

/// A case that must succeed, of which only parts of the output are checked.
const fn get_any(name: &'static str, args: &'static [&'static str]) -> Case {
    Case { name, args, ..NOTHING }
}

impl Case {
    const fn within(self, seconds: f64) -> Case {
        Case { seconds: (self.seconds.0, seconds), ..self }
    }

    const fn silent_about(self, never: &'static [&'static str]) -> Case {
        Case { never, ..self }
    }
}
