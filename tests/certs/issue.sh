# Shell functions for the scripts that create test certificates. A script that sources this file sets $work, a working
# directory.

start=20200101000000Z
end=21200101000000Z
v3="subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid"
authority="basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign"
server="subjectAltName=DNS:localhost,IP:127.0.0.1,IP:fe80::1
extendedKeyUsage=serverAuth"
client="extendedKeyUsage=clientAuth"

p256() { openssl ecparam -name prime256v1 -genkey -noout -out "$work/$1.key" 2>/dev/null; }

configure() { # ISSUER DIGEST
    mkdir -p "$work/db.$1"
    [ -f "$work/db.$1/index.txt" ] || : > "$work/db.$1/index.txt"
    [ -f "$work/db.$1/crlnumber" ] || echo 01 > "$work/db.$1/crlnumber"
    cat > "$work/ca.cnf" <<CNF
[ca]
default_ca = d
[d]
dir = $work/db.$1
database = $work/db.$1/index.txt
serial = $work/serial
crlnumber = $work/db.$1/crlnumber
new_certs_dir = $work
default_md = $2
policy = p
unique_subject = no
crl_extensions = crl_ext
[p]
commonName = supplied
organizationName = optional
[crl_ext]
authorityKeyIdentifier = keyid
CNF
}

# issue NAME KEY ISSUER SUBJECT EXTENSIONS [START END DIGEST] creates $work/NAME.pem. If ISSUER equals NAME, the
# certificate is self-signed.
issue() {
    configure "$3" "${8:-sha256}"
    printf '%s\n' "$5" > "$work/ext"
    if [ -n "${serial:-}" ]; then echo "$serial"; else openssl rand -hex 16 | sed 's/^./1/'; fi > "$work/serial"
    openssl req -new -key "$work/$2.key" -subj "$4" -out "$work/req.csr"
    if [ "$1" = "$3" ]; then self="-selfsign" key=$2; else self="-cert $work/$3.pem" key=$3; fi
    # shellcheck disable=SC2086
    openssl ca -batch -notext -config "$work/ca.cnf" $self -keyfile "$work/$key.key" -in "$work/req.csr" \
        -startdate "${6:-$start}" -enddate "${7:-$end}" -extfile "$work/ext" -out "$work/$1.pem" 2>/dev/null
}

# sent NAME CERTIFICATE… writes the chain NAME.pem, which consists of the named certificates.
sent() {
    to=$1
    shift
    for part in "$@"; do cat "$work/$part.pem"; done > "$to.pem"
}
