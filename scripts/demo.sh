#!/bin/sh
# One download through what networks do: `fetch -v` against a server on this machine that misbehaves. The first
# connection is reset, the second answer is 503 and asks for a second of patience, the third redirects to another
# origin, which must not get the password, and the fourth is 32 MiB with a checksum. Then the same 32 MiB by TLS in TLS:
# through an https proxy that finds an origin which nobody else does. Each of the two proves its own name, and whichever
# cannot is refused. So is, last, a host all of whose addresses are of a class that the command line refuses.
#
# Needs what the build needs, and nothing else. Leaves no process and no file behind, whichever way it ends.
set -eu
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
library=$target/netlib
work=$(mktemp -d)
server=

clean_up() {
    # The server ends when its standard input does.
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
    cargo build --quiet --example misbehaving-server --target-dir "$target"
    ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Iinclude examples-c/fetch.c examples-c/fetch/*.c \
        -L"$library" -lnetlib -o "$work/fetch"
}

start_server() {
    mkfifo "$work/stdin"
    "$target/debug/examples/misbehaving-server" "$work" 300 <"$work/stdin" &
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

# Its trace is shown as it comes, and kept.
download() {
    : >"$work/requests"
    { fetch -v -o "$work/body" "$@" && echo 0 >"$work/code" || echo $? >"$work/code"; } | tee "$work/trace"
    read -r code <"$work/code"
    [ "$code" = 0 ] || fail "fetch ended with $code"
}

# Of each request, the headers that arrived, as the server noted them.
show_requests() {
    echo
    echo "What arrived, in the server's own words (port, method, target, headers):"
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
    announced=$(sed -n 's/.*[Xx]-[Ss][Hh][Aa]256: \([0-9a-f]*\).*/\1/p' "$work/trace")
    received=$("$target/debug/examples/misbehaving-server" sha256 "$work/body")
    size=$(wc -c <"$work/body")
    [ "$size" -eq 33554432 ] || fail "the body has $size bytes, not 33554432"
    [ -n "$announced" ] && [ "$announced" = "$received" ] || fail "SHA-256 $received is not the announced $announced"
    echo
    echo "verified: 32 MiB, SHA-256 $received, as announced; $1"
}

# The proxy saw where to, the origin saw no word for the proxy.
check_tunnel() {
    show_requests
    grep -qx "tlsproxy CONNECT origin.test:$(port origin) host,proxy-authorization" "$work/requests" ||
        fail "the proxy got another request"
    grep -qx "origin GET /large host,user-agent,connection" "$work/requests" || fail "the origin got another request"
    ! grep -q "secret" "$work/trace" || fail "the trace tells the password"
}

# check_refusal CODE WORDS ARGS: fetch ends so and says that, and nobody is asked for anything but a tunnel.
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
    ! grep -q " GET " "$work/requests" || fail "a request was sent all the same"
}

build
start_server
download --user demo:secret "https://localhost:$(port https)/demo"
check_requests
check_body "no credentials at the other origin"

echo
echo "TLS in TLS, through a proxy:"
proxy="https://demo:secret@localhost:$(port tlsproxy)"
download --proxy "$proxy" "https://origin.test:$(port origin)/large"
check_tunnel
check_body "read by nobody on the way"

echo
echo "A proxy, then an origin, that is not who it should be:"
check_refusal 18 'localhost".* is for other.test' --proxy "https://localhost:$(port wrongproxy)" \
    "https://origin.test:$(port origin)/hello"
check_refusal 8 'stranger.test".* is for origin.test' --proxy "$proxy" "https://stranger.test:$(port origin)/hello"

echo
echo "A host that is this machine, for somebody who may not go there:"
check_refusal 19 'the address policy refuses .*: loopback' --refuse-addresses loopback \
    "https://localhost:$(port https)/hello"
