#!/bin/sh
# Creates trusted certificates with restrictions, and chains that end at them, with the openssl command (3.0 or newer).
# The files are committed, so the tests need no openssl. NAME.pem is the chain that a peer sends, and NAME-root.pem is
# the trusted certificate. All peers use the key ../verify/leaf.key. The certificates are valid from 2020 to 2120.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. ../issue.sh

leaf="$v3
$server"
cp ../verify/leaf.key "$work/leaf.key"
for key in root int; do p256 $key; done

# chain NAME KEY EXTENSIONS creates the root NAME-root.pem with these extensions, and NAME.pem, a leaf that the root
# issued.
chain() {
    [ "$2" = leaf ] || p256 "$2"
    issue "$1-root" "$2" "$1-root" "/CN=$1 root" "$3"
    cp "$work/$2.key" "$work/$1-root.key"
    issue "$1-leaf" leaf "$1-root" "/CN=localhost" "$leaf"
    cp "$work/$1-root.pem" "$1-root.pem"
    sent "$1" "$1-leaf"
}

issue root root root "/CN=netlib root" "$v3
$authority"

# A trusted, self-signed server certificate. An attacker with the key of a server certificate could issue a certificate
# for another name.
chain self-signed leaf "$v3
basicConstraints=critical,CA:FALSE
$server"
# A trusted server certificate that a CA issued.
issue leaf-root leaf root "/CN=leaf" "$v3
basicConstraints=critical,CA:FALSE
$server"
cp "$work/leaf-root.pem" leaf-root.pem
cp "$work/leaf.key" "$work/leaf-root.key"
issue leaf-leaf leaf leaf-root "/CN=localhost" "$leaf"
sent leaf leaf-leaf
# A certificate without basicConstraints, which `openssl req -x509` creates if its configuration sets no extensions.
chain plain leaf "subjectKeyIdentifier=hash
subjectAltName=DNS:localhost"
chain no-sign nosign "$v3
basicConstraints=critical,CA:TRUE
keyUsage=critical,digitalSignature"
chain clients clients "$v3
$authority
extendedKeyUsage=clientAuth"
chain critical critical "$v3
$authority
1.2.3.4=critical,DER:0500"
chain expired expired "$v3
$authority"
issue expired-root expired expired-root "/CN=expired root" "$v3
$authority" 20200101000000Z 20210101000000Z
cp "$work/expired-root.pem" expired-root.pem

# A chain with an intermediate CA, although the root's pathlen allows none.
p256 short
issue short-root short short-root "/CN=short root" "$v3
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign"
cp "$work/short-root.pem" short-root.pem
cp "$work/short.key" "$work/short-root.key"
issue short-int int short-root "/CN=one too many" "$v3
$authority"
cp "$work/int.key" "$work/short-int.key"
issue short-leaf leaf short-int "/CN=localhost" "$leaf"
sent short short-leaf short-int

# A root that may not sign CRLs, and a CRL that it signed.
chain no-lists nolists "$v3
basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign"
configure no-lists-root sha256
openssl ca -batch -config "$work/ca.cnf" -gencrl -crl_lastupdate "$start" -crl_nextupdate "$end" \
    -cert "$work/no-lists-root.pem" -keyfile "$work/no-lists-root.key" -out no-lists.crl 2>/dev/null

# A leaf with an authorityInfoAccess extension that contains the URL of its issuer's certificate.
issue ca-issuers-leaf leaf root "/CN=localhost" "$leaf
authorityInfoAccess=caIssuers;URI:http://localhost/root.der"
sent ca-issuers ca-issuers-leaf
