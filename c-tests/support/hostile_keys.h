/* Derives the keys of a TLS session from the secrets in netlib's key log, and encrypts and decrypts records with these
 * keys. Thus a test can send authenticated records that no TLS library would send. Supports one cipher suite of TLS 1.2
 * and one of TLS 1.3, both with ChaCha20-Poly1305 and SHA-256. */
#ifndef NETLIB_TEST_HOSTILE_KEYS_H
#define NETLIB_TEST_HOSTILE_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- SHA-256, HMAC (FIPS 180-4, RFC 2104) ---- */

static inline uint32_t rotate_right(uint32_t x, int by) { return x >> by | x << (32 - by); }

static const uint32_t SHA256_ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline void sha256(const uint8_t *data, size_t len, uint8_t out[32]) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t blocks = (len + 9 + 63) / 64;
    for (size_t block = 0; block < blocks; block++) {
        uint32_t w[64];
        uint8_t bytes[64];
        for (size_t i = 0; i < 64; i++) {
            size_t at = block * 64 + i;
            bytes[i] = at < len ? data[at] : at == len ? 0x80 : 0;
            if (at >= blocks * 64 - 8) bytes[i] = (uint8_t)((uint64_t)len * 8 >> (8 * (blocks * 64 - 1 - at)));
        }
        for (size_t i = 0; i < 16; i++) {
            w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
                   bytes[4 * i + 3];
        }
        for (size_t i = 16; i < 64; i++) {
            uint32_t a = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t b = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + a + w[i - 7] + b;
        }
        uint32_t v[8];
        memcpy(v, h, sizeof v);
        for (size_t i = 0; i < 64; i++) {
            uint32_t e = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
            uint32_t one = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + SHA256_ROUNDS[i] + w[i];
            uint32_t a = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
            uint32_t two = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof v[0]);
            v[4] += one;
            v[0] = one + two;
        }
        for (size_t i = 0; i < 8; i++) h[i] += v[i];
    }
    for (size_t i = 0; i < 32; i++) out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* Computes the HMAC of a short text with a short key. */
static inline void hmac(const uint8_t *key, size_t key_len, const uint8_t *text, size_t len, uint8_t out[32]) {
    uint8_t inner[64 + 512] = {0}, outer[64 + 32] = {0};
    memcpy(inner, key, key_len);
    memcpy(outer, key, key_len);
    for (size_t i = 0; i < 64; i++) inner[i] ^= 0x36, outer[i] ^= 0x5c;
    memcpy(inner + 64, text, len);
    sha256(inner, 64 + len, outer + 64);
    sha256(outer, sizeof outer, out);
}

/* Computes HKDF-Expand-Label of RFC 8446 without a context, for an output of at most one hash. */
static inline void expand_label(const uint8_t secret[32], const char *label, uint8_t *out, size_t len) {
    uint8_t text[64] = {0, (uint8_t)len, (uint8_t)(6 + strlen(label))}, hash[32];
    size_t end = 3 + (size_t)snprintf((char *)text + 3, sizeof text - 3, "tls13 %s", label);
    text[end++] = 0;
    text[end++] = 1;
    hmac(secret, 32, text, end, hash);
    memcpy(out, hash, len);
}

/* Computes the PRF of RFC 5246 for "key expansion". */
static inline void key_block(const uint8_t master[48], const uint8_t *server_random, const uint8_t *client_random,
                             uint8_t *out, size_t len) {
    uint8_t text[32 + 13 + 64], hash[32];
    memcpy(text + 32, "key expansion", 13);
    memcpy(text + 45, server_random, 32);
    memcpy(text + 77, client_random, 32);
    hmac(master, 48, text + 32, sizeof text - 32, text);
    for (size_t done = 0; done < len; done += 32) {
        hmac(master, 48, text, sizeof text, hash);
        memcpy(out + done, hash, len - done < 32 ? len - done : 32);
        hmac(master, 48, text, 32, hash);
        memcpy(text, hash, 32);
    }
}

/* ---- ChaCha20-Poly1305 (RFC 8439) ---- */

static inline uint32_t little(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    *a += *b, *d = rotate_right(*d ^ *a, 16), *c += *d, *b = rotate_right(*b ^ *c, 20);
    *a += *b, *d = rotate_right(*d ^ *a, 24), *c += *d, *b = rotate_right(*b ^ *c, 25);
}

static inline void chacha_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], uint8_t out[64]) {
    uint32_t from[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0, 0, 0, 0, 0, 0, 0, 0, counter}, x[16];
    for (size_t i = 0; i < 8; i++) from[4 + i] = little(key + 4 * i);
    for (size_t i = 0; i < 3; i++) from[13 + i] = little(nonce + 4 * i);
    memcpy(x, from, sizeof x);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 4; j++) quarter(x + j, x + 4 + j, x + 8 + j, x + 12 + j);
        for (int j = 0; j < 4; j++) quarter(x + j, x + 4 + (j + 1) % 4, x + 8 + (j + 2) % 4, x + 12 + (j + 3) % 4);
    }
    for (size_t i = 0; i < 64; i++) out[i] = (uint8_t)((x[i / 4] + from[i / 4]) >> (8 * (i % 4)));
}

static inline void chacha_xor(const uint8_t key[32], const uint8_t nonce[12], uint8_t *data, size_t len) {
    uint8_t stream[64];
    for (size_t i = 0; i < len; i++) {
        if (i % 64 == 0) chacha_block(key, (uint32_t)(1 + i / 64), nonce, stream);
        data[i] ^= stream[i % 64];
    }
}

struct poly {
    uint32_t r[5], h[5], pad[4];
};

static inline void poly_block(struct poly *poly, const uint8_t block[16], uint32_t high) {
    const uint32_t *r = poly->r;
    uint32_t *h = poly->h;
    uint64_t d[5];
    h[0] += little(block) & 0x3ffffff;
    h[1] += little(block + 3) >> 2 & 0x3ffffff;
    h[2] += little(block + 6) >> 4 & 0x3ffffff;
    h[3] += little(block + 9) >> 6;
    h[4] += little(block + 12) >> 8 | high << 24;
    for (size_t i = 0; i < 5; i++) {
        d[i] = 0;
        for (size_t j = 0; j < 5; j++) d[i] += (uint64_t)h[j] * (j <= i ? r[i - j] : 5 * r[5 + i - j]);
    }
    uint64_t carry = 0;
    for (size_t i = 0; i < 5; i++) d[i] += carry, h[i] = (uint32_t)d[i] & 0x3ffffff, carry = d[i] >> 26;
    h[0] += (uint32_t)carry * 5;
    h[1] += h[0] >> 26;
    h[0] &= 0x3ffffff;
}

static inline void poly_text(struct poly *poly, const uint8_t *text, size_t len) {
    for (size_t i = 0; i < len; i += 16) {
        uint8_t block[16] = {0}; /* the AEAD pads the additional data and the text with zeros */
        memcpy(block, text + i, len - i < 16 ? len - i : 16);
        poly_block(poly, block, 1);
    }
}

static inline void poly_tag(struct poly *poly, uint8_t tag[16]) {
    uint32_t *h = poly->h, g[5];
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < 5; i++) h[(i + 1) % 5] += (h[i] >> 26) * (i == 4 ? 5 : 1), h[i] &= 0x3ffffff;
    }
    uint32_t carry = 5;
    for (size_t i = 0; i < 5; i++) g[i] = h[i] + carry, carry = g[i] >> 26, g[i] &= 0x3ffffff;
    if (carry != 0) memcpy(h, g, sizeof g);
    uint32_t words[4] = {h[0] | h[1] << 26, h[1] >> 6 | h[2] << 20, h[2] >> 12 | h[3] << 14, h[3] >> 18 | h[4] << 8};
    uint64_t sum = 0;
    for (size_t i = 0; i < 4; i++) {
        sum += (uint64_t)words[i] + poly->pad[i];
        for (size_t j = 0; j < 4; j++) tag[4 * i + j] = (uint8_t)(sum >> (8 * j));
        sum >>= 32;
    }
}

static inline void aead_tag(const uint8_t key[32], const uint8_t nonce[12], const uint8_t *aad, size_t aad_len,
                            const uint8_t *data, size_t len, uint8_t tag[16]) {
    uint8_t first[64], lengths[16];
    chacha_block(key, 0, nonce, first);
    struct poly poly = {.r = {little(first) & 0x3ffffff, little(first + 3) >> 2 & 0x3ffff03,
                              little(first + 6) >> 4 & 0x3ffc0ff, little(first + 9) >> 6 & 0x3f03fff,
                              little(first + 12) >> 8 & 0x00fffff}};
    for (size_t i = 0; i < 4; i++) poly.pad[i] = little(first + 16 + 4 * i);
    poly_text(&poly, aad, aad_len);
    poly_text(&poly, data, len);
    for (size_t i = 0; i < 8; i++)
        lengths[i] = (uint8_t)((uint64_t)aad_len >> (8 * i)), lengths[8 + i] = (uint8_t)((uint64_t)len >> (8 * i));
    poly_text(&poly, lengths, 16);
    poly_tag(&poly, tag);
}

/* ---- one direction of a session ---- */

struct keys {
    bool is_12, are_known;
    uint8_t secret[32], key[32], iv[12];
    uint64_t seq;
};

static inline void use_secret(struct keys *keys, const uint8_t secret[32]) {
    keys->are_known = true;
    keys->seq = 0;
    memmove(keys->secret, secret, 32);
    expand_label(keys->secret, "key", keys->key, 32);
    expand_label(keys->secret, "iv", keys->iv, 12);
}

static inline void next_secret(struct keys *keys) {
    uint8_t next[32];
    expand_label(keys->secret, "traffic upd", next, 32);
    use_secret(keys, next);
}

static inline void nonce_of(const struct keys *keys, uint8_t nonce[12]) {
    memcpy(nonce, keys->iv, 12);
    for (size_t i = 0; i < 8; i++) nonce[4 + i] ^= (uint8_t)(keys->seq >> (56 - 8 * i));
}

/* Writes the additional data of the AEAD. `len` is the length of the plaintext in TLS 1.2, and of the plaintext and the
 * tag in TLS 1.3. */
static inline size_t aad_of(const struct keys *keys, uint8_t type, size_t len, uint8_t aad[13]) {
    size_t at = 0;
    for (; keys->is_12 && at < 8; at++) aad[at] = (uint8_t)(keys->seq >> (56 - 8 * at));
    uint8_t head[5] = {type, 3, 3, (uint8_t)(len >> 8), (uint8_t)len};
    memcpy(aad + at, head, 5);
    return at + 5;
}

/* Encrypts a record of type `type` with `len` bytes of data and `padding` zeros. Writes the record to `out` and returns
 * its length. */
static inline size_t seal(struct keys *keys, uint8_t type, const uint8_t *data, size_t len, size_t padding,
                          uint8_t *out) {
    uint8_t nonce[12], aad[13], outer = keys->is_12 ? type : 23;
    memcpy(out + 5, data, len);
    if (!keys->is_12) {
        out[5 + len++] = type;
        memset(out + 5 + len, 0, padding);
        len += padding;
    }
    uint8_t head[5] = {outer, 3, 3, (uint8_t)((len + 16) >> 8), (uint8_t)(len + 16)};
    memcpy(out, head, 5);
    nonce_of(keys, nonce);
    size_t aad_len = aad_of(keys, outer, keys->is_12 ? len : len + 16, aad);
    chacha_xor(keys->key, nonce, out + 5, len);
    aead_tag(keys->key, nonce, aad, aad_len, out + 5, len, out + 5 + len);
    keys->seq++;
    return 5 + len + 16;
}

/* Decrypts a record in place, and stores its plaintext and type. Skips the sequence numbers of records that the test
 * has not read. */
static inline bool open_record(struct keys *keys, uint8_t *record, size_t len, uint8_t **text, size_t *text_len,
                               uint8_t *type) {
    uint8_t nonce[12], aad[13], tag[16];
    if (!keys->are_known || len < 5 + 16) return false;
    size_t count = len - 5 - 16;
    uint64_t first = keys->seq;
    for (; keys->seq < first + 16; keys->seq++) {
        nonce_of(keys, nonce);
        size_t aad_len = aad_of(keys, record[0], keys->is_12 ? count : count + 16, aad);
        aead_tag(keys->key, nonce, aad, aad_len, record + 5, count, tag);
        if (memcmp(tag, record + 5 + count, 16) != 0) continue;
        chacha_xor(keys->key, nonce, record + 5, count);
        *type = record[0];
        if (!keys->is_12) {
            while (count > 0 && record[5 + count - 1] == 0) count--;
            if (count > 0) *type = record[5 + --count];
        }
        *text = record + 5;
        *text_len = count;
        keys->seq++;
        return true;
    }
    keys->seq = first;
    return false;
}

#endif
