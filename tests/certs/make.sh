#!/bin/sh
# Creates the test certificates with the openssl command (3.0 or newer). The certificates are committed, so the tests
# need no openssl; run this script only to change the certificates. The certificates are valid until 2120, unless a test
# needs another date.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

start=20200101000000Z
end=21200101000000Z

p256() { openssl ecparam -name prime256v1 -genkey -noout -out "$1" 2>/dev/null; }

# authority NAME SUBJECT creates the CA certificate NAME.pem; its key stays in the working directory.
authority() {
    p256 "$work/$1.key"
    openssl req -new -key "$work/$1.key" -subj "$2" -out "$work/$1.csr"
    issue "$1" "$1" "$start" "$end" "basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign"
}

# issue NAME ISSUER START END EXTENSIONS signs the request $work/NAME.csr and writes NAME.pem. If ISSUER equals NAME,
# the certificate is self-signed.
issue() {
    printf '%s\n' "subjectKeyIdentifier=hash" "authorityKeyIdentifier=keyid" "$5" > "$work/ext"
    : > "$work/index.txt"
    openssl rand -hex 16 > "$work/serial"
    cat > "$work/ca.cnf" <<CNF
[ca]
default_ca = d
[d]
dir = $work
database = $work/index.txt
serial = $work/serial
new_certs_dir = $work
default_md = sha256
policy = p
unique_subject = no
[p]
commonName = supplied
organizationName = optional
CNF
    if [ "$1" = "$2" ]; then self="-selfsign"; else self="-cert $2.pem"; fi
    # shellcheck disable=SC2086
    openssl ca -batch -notext -config "$work/ca.cnf" $self -keyfile "$work/$2.key" -in "$work/$1.csr" \
        -startdate "$3" -enddate "$4" -extfile "$work/ext" -out "$1.pem" 2>/dev/null
}

# leaf NAME ISSUER SUBJECT START END EXTENSIONS creates NAME.pem for the existing key $work/NAME.key.
leaf() {
    openssl req -new -key "$work/$1.key" -subj "$3" -out "$work/$1.csr"
    issue "$1" "$2" "$4" "$5" "$6"
}

names="subjectAltName=DNS:localhost,DNS:*.wild.test,DNS:xn--bcher-kva.test,IP:127.0.0.1,IP:::1,IP:fe80::1
extendedKeyUsage=serverAuth"

authority ca "/O=netlib tests/CN=netlib test CA"
authority other-ca "/O=netlib tests/CN=some other CA"

p256 "$work/server.key"
leaf server ca "/CN=localhost" "$start" "$end" "$names"
# Writes the server's key in every supported format; server.key is PKCS#8.
openssl pkcs8 -topk8 -nocrypt -in "$work/server.key" -out server.key
cp "$work/server.key" server-sec1.key
openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:secret -in "$work/server.key" -out server-encrypted.key
# Few iterations make the keys cheap to decrypt, so that the tests can alter every byte of the files.
openssl pkcs8 -topk8 -v2 aes-128-cbc -v2prf hmacWithSHA512 -iter 3 -passout pass:secret \
    -in "$work/server.key" -out server-encrypted-pbkdf2.key
openssl pkcs8 -topk8 -v2 aes-192-cbc -scrypt -scrypt_N 16 -scrypt_r 1 -scrypt_p 2 -passout pass:secret \
    -in "$work/server.key" -out server-encrypted-scrypt.key
openssl pkcs8 -topk8 -v2 des3 -v2prf hmacWithSHA1 -iter 3 -passout pass:secret \
    -in "$work/server.key" -outform DER -out server-encrypted.der
openssl ec -aes256 -passout pass:secret -in "$work/server.key" -out server-encrypted-sec1.key 2>/dev/null
openssl x509 -in server.pem -outform DER -out server.der
openssl pkcs8 -topk8 -nocrypt -in "$work/server.key" -outform DER -out server-key.der
cat server.pem server.key > server-both.pem

openssl genrsa -out "$work/rsa.key" 2048 2>/dev/null
leaf rsa ca "/CN=localhost" "$start" "$end" "$names"
openssl rsa -in "$work/rsa.key" -traditional -out rsa-pkcs1.key 2>/dev/null
openssl rsa -in "$work/rsa.key" -traditional -des3 -passout pass:secret -out rsa-encrypted-pkcs1.key 2>/dev/null
openssl pkcs8 -topk8 -nocrypt -in "$work/rsa.key" -out rsa.key

p256 "$work/expired.key"
leaf expired ca "/CN=localhost" 20200101000000Z 20210101000000Z "$names"
p256 "$work/future.key"
leaf future ca "/CN=localhost" 21100101000000Z "$end" "$names"
p256 "$work/wrong-name.key"
leaf wrong-name ca "/CN=localhost" "$start" "$end" "subjectAltName=DNS:other.test,DNS:more.test
extendedKeyUsage=serverAuth"
p256 "$work/wrong-purpose.key"
leaf wrong-purpose ca "/CN=localhost" "$start" "$end" "subjectAltName=DNS:localhost
extendedKeyUsage=emailProtection"
p256 "$work/self-signed.key"
openssl req -new -key "$work/self-signed.key" -subj "/CN=localhost" -out "$work/self-signed.csr"
issue self-signed self-signed "$start" "$end" "$names"
p256 "$work/client.key"
openssl pkcs8 -topk8 -v2 aes-256-cbc -passout pass:secret -in "$work/client.key" -out client-encrypted.key
leaf client ca "/CN=a client" "$start" "$end" "extendedKeyUsage=clientAuth"
for name in expired future wrong-name wrong-purpose self-signed client; do
    openssl pkcs8 -topk8 -nocrypt -in "$work/$name.key" -out "$name.key"
done

# The folder shapes/ contains certificates with many kinds of fields: NAME.pem, and NAME.txt with openssl's description.
mkdir -p shapes
cat > "$work/shapes.cnf" <<'CNF'
[req]
distinguished_name = plain
string_mask = utf8only
utf8 = yes
prompt = no
[plain]
CN = plain
[rich]
C = DE
ST = Baden-Württemberg
L = Köln
postalCode = 50667
street = "Straße 1"
O = "Example, Inc. <test> \"quoted\"; a+b"
OU = "#one"
1.OU = " two "
DC = example
1.DC = com
UID = u1
1.2.3.4.5 = unknown
emailAddress = who@example.com
serialNumber = 42
GN = Given
SN = Sur=name
CN = back\\slash
+title = Dr
[rich_ext]
subjectAltName = @rich_names
keyUsage = critical, digitalSignature, keyAgreement
extendedKeyUsage = serverAuth, clientAuth, emailProtection
basicConstraints = CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid, issuer
[rich_names]
DNS.1 = example.com
DNS.2 = *.example.com
IP.1 = 192.0.2.1
email.1 = who@example.com
URI.1 = https://example.com/a?b
dirName.1 = plain
RID.1 = 1.2.3
IP.2 = 2001:db8::1
[ca_ext]
basicConstraints = critical, CA:TRUE, pathlen:3
keyUsage = critical, keyCertSign, cRLSign
[bare]
CNF

# shape NAME SUBJECT-SECTION EXTENSIONS-SECTION ARGUMENTS creates a self-signed certificate for the key $work/shape.key.
shape() {
    shape_name=$1
    sed "s/^distinguished_name = .*/distinguished_name = $2/" "$work/shapes.cnf" > "$work/shape.cnf"
    extensions=$3
    shift 3
    openssl req -new -x509 -config "$work/shape.cnf" -extensions "$extensions" -key "$work/shape.key" -days 36500 \
        -out "shapes/$shape_name.pem" "$@"
    describe "$shape_name"
}

describe() {
    openssl x509 -in "shapes/$1.pem" -noout -serial -subject -issuer -dates -fingerprint -sha256 \
        -nameopt RFC2253,-esc_msb,utf8 -dateopt iso_8601 > "shapes/$1.txt"
    openssl x509 -in "shapes/$1.pem" -noout -text -certopt no_extensions |
        sed -n 's/^ *\(Version:\|Signature Algorithm:\|Public-Key:\|ASN1 OID:\) /\1 /p' | uniq >> "shapes/$1.txt"
    # Computes the pin with the commands in curl's manual.
    openssl x509 -in "shapes/$1.pem" -noout -pubkey | openssl pkey -pubin -outform DER |
        openssl dgst -sha256 -binary | openssl base64 -A | sed 's,^,Pin: sha256//,;s,$,\n,' >> "shapes/$1.txt"
}
openssl ecparam -name secp384r1 -genkey -noout -out "$work/shape.key"
shape rich rich rich_ext -sha384 -set_serial 0x00f1e2d3
openssl ecparam -name secp521r1 -genkey -noout -out "$work/shape.key"
shape authority plain ca_ext -sha512 -set_serial -255
openssl ecparam -name brainpoolP256r1 -genkey -noout -out "$work/shape.key"
shape brainpool plain rich_ext -sha1 -set_serial 0
openssl genpkey -algorithm ed25519 -out "$work/shape.key"
shape ed25519 plain rich_ext
openssl genpkey -algorithm ed448 -out "$work/shape.key"
shape ed448 plain rich_ext
openssl genrsa -out "$work/shape.key" 1023 2>/dev/null
shape md5 plain rich_ext -md5
openssl genrsa -out "$work/shape.key" 3072 2>/dev/null
shape pss plain rich_ext -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32
openssl genpkey -algorithm rsa-pss -pkeyopt rsa_keygen_bits:2048 -out "$work/shape.key" 2>/dev/null
shape pss-key plain rich_ext -sha384
openssl dsaparam -genkey 1024 2>/dev/null | openssl dsa -out "$work/shape.key" 2>/dev/null
shape dsa plain rich_ext -sha256
# A certificate of version 1, which has no extensions.
openssl genrsa -out "$work/shape.key" 2048 2>/dev/null
openssl req -new -key "$work/shape.key" -subj "/CN=an old root" -out "$work/shape.csr"
openssl x509 -req -in "$work/shape.csr" -signkey "$work/shape.key" -days 36500 -out shapes/version1.pem \
    2>/dev/null
describe version1

# Creates the chains for the tests of verification and trust.
sh verify/make.sh
sh trust/make.sh
