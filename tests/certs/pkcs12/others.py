"""Creates the PKCS#12 files of make.sh that Python writes, in the folder `others` of the given folder. The package
`cryptography` writes most of them. Files with PBMAC1 (RFC 9579) are written by the OpenSSL library, version 3.4 or
newer, whose path is in the variable LIBCRYPTO."""

import ctypes
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.serialization import pkcs12

folder = os.path.join(sys.argv[1], "others")
os.makedirs(folder)
certs = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(name):
    with open(os.path.join(certs, name), "rb") as file:
        return file.read()


def write(name, data, password):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)
    with open(os.path.join(folder, "list"), "a") as file:
        file.write(f"{name}\t+{password}\n")


key = serialization.load_pem_private_key(read("client.key"), None)
leaf, authority = (x509.load_pem_x509_certificate(read(name)) for name in ("client.pem", "ca.pem"))
builder = serialization.PrivateFormat.PKCS12.encryption_builder()
forms = {
    "cryptography.p12": (serialization.BestAvailableEncryption, "secret"),
    "cryptography-utf8.p12": (serialization.BestAvailableEncryption, "p\u00e4ss\U0001f511"),
}
for name, (form, password) in forms.items():
    data = pkcs12.serialize_key_and_certificates(b"client", key, leaf, [authority], form(password.encode()))
    write(name, data, password)
old = (
    builder.kdf_rounds(50)
    .key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC)
    .hmac_hash(hashes.SHA1())
    .build("p\u00e4ss\U0001f511".encode())
)
write("cryptography-3des.p12", pkcs12.serialize_key_and_certificates(b"client", key, leaf, [authority], old), "p\u00e4ss\U0001f511")

crypto = ctypes.CDLL(os.environ["LIBCRYPTO"])
for function, result in {
    "BIO_new_mem_buf": ctypes.c_void_p,
    "PEM_read_bio_PrivateKey": ctypes.c_void_p,
    "PEM_read_bio_X509": ctypes.c_void_p,
    "PKCS12_create": ctypes.c_void_p,
    "EVP_get_digestbyname": ctypes.c_void_p,
    "OPENSSL_sk_new_null": ctypes.c_void_p,
}.items():
    getattr(crypto, function).restype = result


def pem(function, name):
    data = read(name)
    bio = ctypes.c_void_p(crypto.BIO_new_mem_buf(data, len(data)))
    return ctypes.c_void_p(getattr(crypto, function)(bio, None, None, None))


AES_256_CBC = 427
for mac, prf in (("SHA256", "SHA256"), ("SHA512", "SHA512"), ("SHA256", "SHA1"), ("SHA1", "SHA384")):
    stack = ctypes.c_void_p(crypto.OPENSSL_sk_new_null())
    crypto.OPENSSL_sk_push(stack, pem("PEM_read_bio_X509", "ca.pem"))
    p12 = ctypes.c_void_p(
        crypto.PKCS12_create(
            b"secret", b"client", pem("PEM_read_bio_PrivateKey", "client.key"), pem("PEM_read_bio_X509", "client.pem"),
            stack, AES_256_CBC, AES_256_CBC, 3, -1, 0,
        )
    )
    digests = [ctypes.c_void_p(crypto.EVP_get_digestbyname(name.encode())) for name in (mac, prf)]
    if crypto.PKCS12_set_pbmac1_pbkdf2(p12, b"secret", -1, os.urandom(16), 16, 3, digests[0], prf.encode()) != 1:
        sys.exit("PBMAC1 was refused")
    size = crypto.i2d_PKCS12(p12, None)
    data = ctypes.create_string_buffer(size)
    crypto.i2d_PKCS12(p12, ctypes.byref(ctypes.pointer(data)))
    write(f"pbmac1-{mac.lower()}-{prf.lower()}.p12", data.raw, "secret")
