#!/bin/sh
# Demonstrates `fetch -v` with a misbehaving server on the local machine. The server resets the first connection,
# answers the second request with 503 and Retry-After: 1, redirects the third to another origin, which must not get the
# password, and answers the fourth with 32 MiB and a checksum. Then fetch downloads the same 32 MiB with TLS in TLS,
# through an https proxy to an origin that only the proxy can resolve. The certificates of proxy and origin must match
# their names, and a wrong name is refused. The last download fails because --refuse-addresses forbids all addresses of
# the host. At the end, a simulation shows with which retry policies an overloaded server recovers.
#
# The script needs only the tools of the build, and always removes its files and ends its processes.
#
# usage: scripts/demo.sh
set -eu
. "$(dirname "$0")/usage.sh"
[ $# = 0 ] || usage "$@"
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
library=$target/netlib
server_program=$target${NETLIB_SMALL:+/small}/release/misbehaving-server
work=$(mktemp -d)
server=

clean_up() {
    # The server ends when its standard input is closed.
    exec 3>&-
    [ -z "$server" ] || wait "$server" || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
    echo "demo: $*" >&2
    exit 1
}

build() {
    scripts/build-lib "$library"
    # With the flags of the library, cargo reuses the crates that the library and the server have in common.
    (. scripts/release-flags.sh && cargo build --quiet --release --package netlib-misbehaving-server)
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Iinclude examples-c/fetch.c examples-c/fetch/*.c \
        -L"$library" -lnetlib -o "$work/fetch"
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Iinclude examples-c/storm.c examples-c/storm/*.c \
        -L"$library" -lnetlib -lm -o "$work/storm"
}

start_server() {
    mkfifo "$work/stdin"
    "$server_program" "$work" 300 <"$work/stdin" &
    server=$!
    exec 3>"$work/stdin"
    tries=0
    until [ -e "$work/ports" ]; do
        kill -0 "$server" 2>/dev/null || fail "the server did not start"
        tries=$((tries + 1))
        [ $tries -lt 300 ] || fail "the server did not open its ports"
        sleep 0.1
    done
}

port() {
    sed -n "s/^$1=//p" "$work/ports"
}

fetch() {
    LD_LIBRARY_PATH=$library "$work/fetch" --cacert "$work/ca.pem" --proxy-cacert "$work/proxy-ca.pem" \
        --max-time 60 "$@" 2>&1 3>&-
}

# Runs fetch; prints the trace while fetch writes it, and stores a copy.
download() {
    : >"$work/requests"
    { fetch -v -o "$work/body" "$@" && echo 0 >"$work/code" || echo $? >"$work/code"; } | tee "$work/trace"
    read -r code <"$work/code"
    [ "$code" = 0 ] || fail "fetch ended with $code"
}

# Prints the headers of each request from the server's log.
show_requests() {
    echo
    echo "Requests as the server logged them (port, method, target, headers):"
    sed 's/^/    /' "$work/requests"
}

check_requests() {
    show_requests
    requests=$(wc -l <"$work/requests")
    [ "$requests" -eq 4 ] || fail "the server got $requests requests, not 4"
    [ "$(grep -c '^https GET /demo .*authorization' "$work/requests")" -eq 3 ] ||
        fail "the first origin did not get the credentials each time"
    last=$(sed -n 4p "$work/requests")
    case $last in
        "https2nd GET /large "*authorization*) fail "the credentials went to another origin" ;;
        "https2nd GET /large "*) ;;
        *) fail "the last request was not for the other origin" ;;
    esac
}

check_body() {
    announced=$(LC_ALL=C sed -n 's/.*[Xx]-[Ss][Hh][Aa]256: \([0-9a-f]*\).*/\1/p' "$work/trace")
    received=$("$server_program" sha256 "$work/body")
    size=$(wc -c <"$work/body")
    [ "$size" -eq 33554432 ] || fail "the body has $size bytes, not 33554432"
    [ -n "$announced" ] && [ "$announced" = "$received" ] || fail "SHA-256 $received is not the SHA-256 that the server sent, $announced"
    echo
    echo "verified: 32 MiB, SHA-256 $received, as the server stated; $1"
}

# Checks that the proxy received the CONNECT target, and that the origin received no proxy header.
check_tunnel() {
    show_requests
    grep -qx "tlsproxy CONNECT origin.test:$(port origin) host,proxy-authorization" "$work/requests" ||
        fail "the proxy got another request"
    grep -qx "origin GET /large host,user-agent,connection" "$work/requests" || fail "the origin got another request"
    ! grep -q "secret" "$work/trace" || fail "the trace contains the password"
}

# check_refusal CODE WORDS ARGS runs fetch with ARGS, and checks that fetch exits with CODE, prints WORDS, and sends no
# request except CONNECT.
check_refusal() {
    wanted=$1
    words=$2
    shift 2
    : >"$work/requests"
    code=0
    fetch "$@" >"$work/refusal" || code=$?
    sed 's/^/    /' "$work/refusal"
    [ "$code" = "$wanted" ] || fail "fetch ended with $code, not $wanted"
    grep -q "$words" "$work/refusal" || fail "fetch does not say: $words"
    ! grep -q " GET " "$work/requests" || fail "a request was sent despite the failure"
}

build
start_server
download --user demo:secret "https://localhost:$(port https)/demo"
check_requests
check_body "no credentials at the other origin"

echo
echo "TLS inside TLS, through a proxy:"
proxy="https://demo:secret@localhost:$(port tlsproxy)"
download --proxy "$proxy" "https://origin.test:$(port origin)/large"
check_tunnel
check_body "read by nobody on the way"

echo
echo "A proxy and an origin with certificates for other names:"
check_refusal 18 'localhost".* is for other.test' --proxy "https://localhost:$(port wrongproxy)" \
    "https://origin.test:$(port origin)/hello"
check_refusal 8 'stranger.test".* is for origin.test' --proxy "$proxy" "https://stranger.test:$(port origin)/hello"

echo
echo "A host name that resolves to a refused loopback address:"
check_refusal 19 'the address policy refuses .*: loopback' --refuse-addresses loopback \
    "https://localhost:$(port https)/hello"

echo
LD_LIBRARY_PATH=$library "$work/storm" demo
