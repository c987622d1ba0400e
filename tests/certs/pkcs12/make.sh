#!/bin/sh
# Creates the PKCS#12 test files with several programs: each file contains the client certificate of tests/certs, its
# key and its CA. The files are committed, so the tests need none of the programs; run this script only to change the
# files.
#
# The script needs openssl 3.0 or newer, keytool of a JDK, certtool of GnuTLS, pk12util and certutil of NSS, and Python
# with `cryptography`. The variable LIBCRYPTO names the libcrypto of OpenSSL 3.4 or newer. Each line of `list` has a
# file name, a tab, and "+" followed by the password, or "-" for no password.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
certs=..
rm -f ./*.p12 list

# add FILE [PASSWORD] adds a line to `list`.
add() {
    if [ $# = 2 ]; then printf '%s\t+%s\n' "$1" "$2" >> list; else printf '%s\t-\n' "$1" >> list; fi
}

bundle() {
    openssl pkcs12 -export -inkey $certs/client.key -in $certs/client.pem -certfile $certs/ca.pem "$@"
}

# The openssl command: the ciphers of old releases and of 3.0. Few iterations make the files cheap to decrypt, so that
# the tests can alter every byte.
bundle -legacy -iter 3 -name 'a client' -caname 'the authority' -passout pass:secret -out openssl-legacy.p12
add openssl-legacy.p12 secret
bundle -iter 3 -name 'a client' -passout pass:secret -out openssl.p12
add openssl.p12 secret
bundle -keypbe NONE -certpbe NONE -nomac -passout pass: -out openssl-open.p12
add openssl-open.p12

# Java's keytool: PBES2 with 10,000 iterations, and the ciphers that Java used before release 12.
bundle -name client -passout pass:secret -out "$work/source.p12"
for form in '' -legacy; do
    # shellcheck disable=SC2086
    keytool ${form:+-J-Dkeystore.pkcs12.legacy} -importkeystore -noprompt -srckeystore "$work/source.p12" -srcstoretype PKCS12 \
        -srcstorepass secret -destkeystore "keytool$form.p12" -deststoretype PKCS12 -deststorepass secret 2> /dev/null
    add "keytool$form.p12" secret
done

# GnuTLS' certtool: each of its ciphers, then no password and an empty password.
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

# NSS' pk12util, whose code Firefox and Thunderbird share, writes BER: with PBES2, and with the ciphers of older NSS
# releases.
mkdir "$work/nss"
certutil -N -d "sql:$work/nss" --empty-password
pk12util -i "$work/source.p12" -d "sql:$work/nss" -W secret > /dev/null
pk12util -o nss.p12 -n client -d "sql:$work/nss" -W secret > /dev/null
add nss.p12 secret
pk12util -o nss-legacy.p12 -n client -d "sql:$work/nss" -W secret \
    -c 'PKCS #12 V2 PBE With SHA-1 And 3KEY Triple DES-CBC' -C 'PKCS #12 V2 PBE With SHA-1 And 40 Bit RC2 CBC' -M SHA-1 > /dev/null
add nss-legacy.p12 secret


# Python's `cryptography`, and libcrypto for files with PBMAC1, which the openssl 3.0 command cannot write.
python3 others.py "$work"
cp "$work"/others/*.p12 .
chmod 644 ./*.p12
cat "$work/others/list" >> list
