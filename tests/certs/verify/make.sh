#!/bin/sh
# Creates valid chains, and chains that verification must refuse for one reason each, with the openssl command (3.0 or
# newer). The files are committed, so the tests need no openssl. NAME.pem is the chain that a peer sends: its own
# certificate, then its issuers' certificates. All peers use the same key, leaf.key. The certificates are valid until
# 2120, unless a test needs another date.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. ../issue.sh

# through NAME SUBJECT EXTENSIONS [START END] creates the chain NAME.pem: a valid leaf, and its issuer, an intermediate
# with this subject and these extensions that the root issued.
through() {
    p256 "$1-int"
    issue "$1-int" "$1-int" root "$2" "$3" "${4:-}" "${5:-}"
    issue "$1-leaf" leaf "$1-int" "/CN=localhost" "$v3
$server"
    sent "$1" "$1-leaf" "$1-int"
}

# single NAME EXTENSIONS [START END DIGEST] creates the chain NAME.pem: a leaf with these extensions, and its issuer,
# the valid intermediate.
single() {
    issue "$1-leaf" leaf int "/CN=localhost" "$2" "${3:-}" "${4:-}" "${5:-}"
    sent "$1" "$1-leaf" int
}

for key in root int other-root other-int leaf; do p256 $key; done
issue root root root "/CN=netlib root" "$v3
$authority"
issue int int root "/CN=netlib intermediate" "$v3
$authority"
issue other-root other-root other-root "/CN=unknown root" "$v3
$authority"
issue other-int other-int other-root "/CN=unknown intermediate" "$v3
$authority"
cp "$work/root.pem" root.pem
cp "$work/other-root.pem" other-root.pem
cp "$work/int.pem" int.pem
openssl pkcs8 -topk8 -nocrypt -in "$work/leaf.key" -out leaf.key

single good "$v3
$server"
sent only-leaf good-leaf
sent unrelated good-leaf other-int
sent good-backwards good-leaf root int
issue unknown-leaf leaf other-int "/CN=localhost" "$v3
$server"
sent unknown unknown-leaf other-int
sent unknown-root unknown-leaf other-int other-root

# Self-signed CA certificates, as `openssl req -x509` creates them by default.
issue self-ca leaf self-ca "/CN=localhost" "$v3
basicConstraints=critical,CA:TRUE
subjectAltName=DNS:localhost"
cp "$work/self-ca.pem" self-signed-ca.pem
issue self-client leaf self-client "/CN=a client" "$v3
basicConstraints=critical,CA:TRUE
extendedKeyUsage=clientAuth"
cp "$work/self-client.pem" self-signed-client.pem
issue self leaf self "/CN=localhost" "$v3
$server"
cp "$work/self.pem" self-signed.pem
issue self-expired leaf self-expired "/CN=localhost" "$v3
$authority
subjectAltName=DNS:localhost" 20200101000000Z 20210101000000Z
cp "$work/self-expired.pem" self-signed-expired.pem

issue ca-leaf leaf int "/CN=localhost" "$v3
$authority
$server"
sent authority ca-leaf int

single expired "$v3
$server" 20200101000000Z 20210101000000Z
single future "$v3
$server" 21100101000000Z "$end"
through expired-int "/CN=expired intermediate" "$v3
$authority" 20200101000000Z 20210101000000Z
issue client-expired-leaf leaf expired-int-int "/CN=a client" "$v3
$client"
sent client-expired-int client-expired-leaf expired-int-int
through future-int "/CN=future intermediate" "$v3
$authority" 21100101000000Z "$end"

single names "$v3
subjectAltName=DNS:other.test,DNS:*.more.test,IP:192.0.2.1
extendedKeyUsage=serverAuth"
issue nameless-leaf leaf int "/CN=localhost" "$v3
extendedKeyUsage=serverAuth"
sent nameless nameless-leaf int
single purpose "$v3
subjectAltName=DNS:localhost
extendedKeyUsage=emailProtection"
single client "$v3
$client"
sent client-only client-leaf
through purpose-int "/CN=intermediate for clients" "$v3
$authority
extendedKeyUsage=clientAuth"
through not-authority "/CN=no authority" "$v3
basicConstraints=critical,CA:FALSE"
through constrained "/CN=constrained intermediate" "$v3
$authority
nameConstraints=critical,permitted;DNS:other.test"
through constrained-ip "/CN=constrained intermediate" "$v3
$authority
nameConstraints=critical,permitted;DNS:localhost,permitted;IP:127.0.0.0/255.0.0.0,permitted;IP:fe80:0:0:0:0:0:0:0/ffc0:0:0:0:0:0:0:0"
through excluded-ip "/CN=constrained intermediate" "$v3
$authority
nameConstraints=critical,excluded;IP:fe80:0:0:0:0:0:0:0/ffc0:0:0:0:0:0:0:0"
p256 short
p256 below
issue short short root "/CN=last intermediate" "$v3
basicConstraints=critical,CA:TRUE,pathlen:0
keyUsage=critical,keyCertSign,cRLSign"
issue below below short "/CN=one too many" "$v3
$authority"
issue too-long-leaf leaf below "/CN=localhost" "$v3
$server"
sent too-long too-long-leaf below short

openssl genrsa -out "$work/weak.key" 1024 2>/dev/null
issue weak weak root "/CN=weak intermediate" "$v3
$authority"
issue weak-int-leaf leaf weak "/CN=localhost" "$v3
$server"
sent weak-int weak-int-leaf weak
issue weak-leaf weak int "/CN=localhost" "$v3
$server"
sent weak weak-leaf int
openssl ecparam -name secp256k1 -genkey -noout -out "$work/curve.key" 2>/dev/null
issue curve curve root "/CN=intermediate of another curve" "$v3
$authority"
issue curve-leaf leaf curve "/CN=localhost" "$v3
$server"
sent curve-int curve-leaf curve
issue curve-own curve int "/CN=localhost" "$v3
$server"
sent curve curve-own int
openssl genrsa -out "$work/rsa.key" 2048 2>/dev/null
issue rsa rsa root "/CN=RSA intermediate" "$v3
$authority"
for digest in sha1 md5; do
    issue $digest-leaf leaf rsa "/CN=localhost" "$v3
$server" "" "" $digest
    sent $digest $digest-leaf rsa
done
# A chain whose leaf has a signature with a changed last byte.
openssl x509 -in "$work/good-leaf.pem" -outform DER -out "$work/good.der"
size=$(($(wc -c < "$work/good.der") - 1))
{ head -c $size "$work/good.der"; tail -c 1 "$work/good.der" | LC_ALL=C tr '\000-\377' '\001-\377\000'; } > "$work/bad.der"
openssl x509 -inform DER -in "$work/bad.der" -out "$work/bad.pem"
sent bad-signature bad int
{ cat "$work/good-leaf.pem"; echo "-----BEGIN CERTIFICATE-----"; echo "MAA="; echo "-----END CERTIFICATE-----"; } > malformed-int.pem

# Leaves whose keys may not sign handshakes.
single no-handshake "$v3
keyUsage=critical,keyEncipherment
$server"
issue self-no-handshake leaf self-no-handshake "/CN=localhost" "$v3
keyUsage=critical,keyCertSign
subjectAltName=DNS:localhost"
cp "$work/self-no-handshake.pem" self-signed-no-handshake.pem

# A leaf with a malformed keyUsage, which webpki ignores and netlib's own parser refuses.
single odd "$v3
2.5.29.15=DER:0500
$server"

# Chains that are refused only with NETLIB_VERIFY_FLAG_X509_STRICT.
single strict-no-authority-key "subjectKeyIdentifier=hash
authorityKeyIdentifier=none
$server"
serial=00
single strict-serial "$v3
$server"
serial=
through strict-not-critical "/CN=intermediate of another kind" "$v3
basicConstraints=CA:TRUE
keyUsage=critical,keyCertSign,cRLSign"
through strict-no-sign "/CN=intermediate of another kind" "$v3
basicConstraints=critical,CA:TRUE
keyUsage=critical,cRLSign"
p256 strict-no-key
issue strict-no-key strict-no-key root "/CN=intermediate of another kind" "subjectKeyIdentifier=none
authorityKeyIdentifier=keyid
$authority"
issue strict-no-key-leaf leaf strict-no-key "/CN=localhost" "subjectKeyIdentifier=hash
2.5.29.35=DER:3006800401020304
$server"
sent strict-no-key strict-no-key-leaf strict-no-key

# Revocation.
through no-lists "/CN=intermediate without lists" "$v3
basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign"
single revoked "$v3
$server"
single revoked-client "$v3
$client"
through revoked-int "/CN=revoked intermediate" "$v3
$authority"
revoke() { # ISSUER CERTIFICATE
    configure "$1" sha256
    openssl ca -config "$work/ca.cnf" -keyfile "$work/$1.key" -cert "$work/$1.pem" -revoke "$work/$2.pem" 2>/dev/null
}
list() { # NAME ISSUER START END
    configure "$2" sha256
    openssl ca -config "$work/ca.cnf" -keyfile "$work/$2.key" -cert "$work/$2.pem" -gencrl \
        -crl_lastupdate "$3" -crl_nextupdate "$4" -out "$1.crl" 2>/dev/null
}
list int-expired int 20190101000000Z 20210101000000Z
revoke int revoked-leaf
revoke int revoked-client-leaf
revoke root revoked-int-int
list int int $start $end
list root root $start $end
list no-lists no-lists-int $start $end
list revoked-int revoked-int-int $start $end
list other-root other-root $start $end
# A CRL with the issuer name of the intermediate, signed with another key.
p256 forged
issue forged forged forged "/CN=netlib intermediate" "$v3
$authority"
list int-forged forged $start $end
openssl crl -in int.crl -outform DER -out int.crl.der
cat root.crl int.crl revoked-int.crl no-lists.crl > all.crl
cat root.pem all.crl > root-and-crls.pem
