#!/bin/sh
# Makes the PKCS#12 files of the tests: the client of tests/certs with its key and its authority, as other programs than
# the openssl command write them. They are committed, so that the tests need none of these; run this only to change them.
#
# It needs openssl 3.0 or newer, keytool of a JDK, certtool of GnuTLS, pk12util and certutil of NSS, and Python with
# `cryptography`; LIBCRYPTO names the library of OpenSSL 3.4 or newer. What each file is opened with stands in `list`: the
# file, a tab, and the password behind a "+", or "-" for none.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
certs=..
rm -f ./*.p12 list

# add FILE [PASSWORD]
add() {
    if [ $# = 2 ]; then printf '%s\t+%s\n' "$1" "$2" >> list; else printf '%s\t-\n' "$1" >> list; fi
}

bundle() {
    openssl pkcs12 -export -inkey $certs/client.key -in $certs/client.pem -certfile $certs/ca.pem "$@"
}

# The openssl command: what old releases wrote, with little work, so that it can be broken in every place.
bundle -legacy -iter 3 -name 'a client' -caname 'the authority' -passout pass:secret -out openssl-legacy.p12
add openssl-legacy.p12 secret
bundle -iter 3 -name 'a client' -passout pass:secret -out openssl.p12
add openssl.p12 secret
bundle -keypbe NONE -certpbe NONE -nomac -passout pass: -out openssl-open.p12
add openssl-open.p12

# Java's keytool: PBES2 with 10,000 iterations, or as before Java 12.
bundle -name client -passout pass:secret -out "$work/source.p12"
for form in '' -legacy; do
    # shellcheck disable=SC2086
    keytool ${form:+-J-Dkeystore.pkcs12.legacy} -importkeystore -noprompt -srckeystore "$work/source.p12" -srcstoretype PKCS12 \
        -srcstorepass secret -destkeystore "keytool$form.p12" -deststoretype PKCS12 -deststorepass secret 2> /dev/null
    add "keytool$form.p12" secret
done

# GnuTLS' certtool: each of its ciphers, no password, an empty one.
for cipher in 3des 3des-pkcs12 aes-128 aes-192 aes-256 rc2-40; do
    certtool --to-p12 --load-privkey $certs/client.key --load-certificate $certs/client.pem --load-ca-certificate $certs/ca.pem \
        --p12-name client --password secret --pkcs-cipher "$cipher" --outder --outfile "certtool-$cipher.p12" 2> /dev/null
    add "certtool-$cipher.p12" secret
done
for form in null empty; do
    certtool --to-p12 --load-privkey $certs/client.key --load-certificate $certs/client.pem --load-ca-certificate $certs/ca.pem \
        --p12-name client --"$form"-password --pkcs-cipher 3des-pkcs12 --outder --outfile "certtool-$form.p12" 2> /dev/null
    add "certtool-$form.p12"
done

# NSS' pk12util, as Firefox and Thunderbird: BER; PBES2, or the ciphers it had before.
mkdir "$work/nss"
certutil -N -d "sql:$work/nss" --empty-password
pk12util -i "$work/source.p12" -d "sql:$work/nss" -W secret > /dev/null
pk12util -o nss.p12 -n client -d "sql:$work/nss" -W secret > /dev/null
add nss.p12 secret
pk12util -o nss-legacy.p12 -n client -d "sql:$work/nss" -W secret \
    -c 'PKCS #12 V2 PBE With SHA-1 And 3KEY Triple DES-CBC' -C 'PKCS #12 V2 PBE With SHA-1 And 40 Bit RC2 CBC' -M SHA-1 > /dev/null
add nss-legacy.p12 secret


# Python's cryptography, and OpenSSL's library for PBMAC1, which the command of 3.0 does not write.
python3 others.py "$work"
cp "$work"/others/*.p12 .
chmod 644 ./*.p12
cat "$work/others/list" >> list
