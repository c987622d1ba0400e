#!/bin/sh
# One download through what networks do: `fetch -v` against a server on this machine that misbehaves. The first
# connection is reset, the second answer is 503 and asks for a second of patience, the third redirects to another
# origin, which must not get the password, and the fourth is 32 MiB with a checksum.
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
    port=$(sed -n 's/^https=//p' "$work/ports")
}

# Its trace is shown as it comes, and kept.
fetch() {
    {
        LD_LIBRARY_PATH=$library "$work/fetch" -v --cacert "$work/ca.pem" --user demo:secret --max-time 60 \
            -o "$work/body" "https://localhost:$port/demo" 2>&1 3>&- && echo 0 >"$work/code" || echo $? >"$work/code"
    } | tee "$work/trace"
    read -r code <"$work/code"
    [ "$code" = 0 ] || fail "fetch ended with $code"
}

# Of each request, the headers that arrived, as the server noted them.
check_requests() {
    echo
    echo "What arrived at the server, in its own words (port, method, path, headers):"
    sed 's/^/    /' "$work/requests"
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
    echo "verified: 32 MiB, SHA-256 $received, as announced; no credentials at the other origin"
}

build
start_server
fetch
check_requests
check_body
