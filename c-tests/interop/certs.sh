#!/bin/sh
# Creates the certificates of the interoperation tests with the openssl command, in the current directory, which must be
# empty: a root CA (RSA), an intermediate CA (P-256), and a server and a client certificate for each kind of key.
#
# NAME.pem is a certificate, NAME.key its key, NAME-chain.pem the certificate and its issuer, NAME-both.pem all three.
# NAME.p12 has all three for each client, with an empty password.
set -eu

cat > ca.cnf <<'CNF'
[ca]
default_ca = d
[d]
dir = .
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = p
unique_subject = no
[p]
commonName = supplied
[req]
distinguished_name = dn
prompt = no
[dn]
CNF

key() {
    case $1 in
    rsa) openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null ;;
    rsa-pss) openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 2>/dev/null ;;
    p256) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 ;;
    p384) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 ;;
    ed25519) openssl genpkey -algorithm ED25519 ;;
    esac
}

# issue NAME KIND-OF-KEY ISSUER SUBJECT END EXTENSIONS: issues a certificate. If ISSUER is NAME, the certificate is
# self-signed.
issue() {
    key "$2" > "$1.key"
    openssl req -new -config ca.cnf -key "$1.key" -subj "$4" -out "$1.csr"
    printf '%s\n' "subjectKeyIdentifier=hash" "$6" > ext
    : > index.txt
    openssl rand -hex 16 > serial
    if [ "$1" = "$3" ]; then by=-selfsign; else by="-cert $3.pem"; fi
    # shellcheck disable=SC2086
    openssl ca -batch -notext -config ca.cnf $by -keyfile "$3.key" -in "$1.csr" -extfile ext \
        -startdate 20200101000000Z -enddate "$5" -out "$1.pem" 2> issue.log || { cat issue.log >&2; exit 1; }
    if [ -f "$3-is-below" ]; then cat "$1.pem" "$3.pem"; else cat "$1.pem"; fi > "$1-chain.pem"
    cat "$1-chain.pem" "$1.key" > "$1-both.pem"
}

end=21200101000000Z
authority="basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign"
server="subjectAltName=DNS:localhost
extendedKeyUsage=serverAuth"

issue root rsa root "/CN=interop root" $end "$authority"
issue other-root p256 other-root "/CN=another root" $end "$authority"
issue middle p256 root "/CN=interop middle" $end "$authority"
: > middle-is-below
for kind in rsa rsa-pss p256 p384 ed25519; do
    issue "server-$kind" $kind middle "/CN=server $kind" $end "$server"
    issue "client-$kind" $kind middle "/CN=client $kind" $end "extendedKeyUsage=clientAuth"
    openssl pkcs12 -export -in "client-$kind-chain.pem" -inkey "client-$kind.key" -passout pass: -out "client-$kind.p12"
done
issue expired p256 middle "/CN=expired" 20210101000000Z "$server"
issue elsewhere p256 middle "/CN=elsewhere" $end "subjectAltName=DNS:elsewhere.test
extendedKeyUsage=serverAuth"
issue authority p256 middle "/CN=authority" $end "$authority
subjectAltName=DNS:localhost"
issue stranger p256 other-root "/CN=stranger" $end "extendedKeyUsage=clientAuth"
