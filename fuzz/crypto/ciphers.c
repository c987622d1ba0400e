/* Ciphers that leave the data unchanged and accept any tag, so that TLS treats an altered record like one from a peer
 * that has the keys. */
#include "wrapped.h"

#define TAG 16

int WRAPPED(EVP_AEAD_CTX_seal)(const void *ctx, uint8_t *out, size_t *out_len, size_t room, const uint8_t *nonce,
                               size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len);
int WRAPPED(EVP_AEAD_CTX_seal)(const void *ctx, uint8_t *out, size_t *out_len, size_t room, const uint8_t *nonce,
                               size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) {
    (void)ctx, (void)nonce, (void)nonce_len, (void)ad, (void)ad_len;
    if (room < in_len + TAG) return 0;
    memmove(out, in, in_len);
    memset(out + in_len, 0, TAG);
    *out_len = in_len + TAG;
    return 1;
}

int WRAPPED(EVP_AEAD_CTX_open)(const void *ctx, uint8_t *out, size_t *out_len, size_t room, const uint8_t *nonce,
                               size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len);
int WRAPPED(EVP_AEAD_CTX_open)(const void *ctx, uint8_t *out, size_t *out_len, size_t room, const uint8_t *nonce,
                               size_t nonce_len, const uint8_t *in, size_t in_len, const uint8_t *ad, size_t ad_len) {
    (void)ctx, (void)nonce, (void)nonce_len, (void)ad, (void)ad_len;
    if (in_len < TAG || room < in_len - TAG) return 0;
    memmove(out, in, in_len - TAG);
    *out_len = in_len - TAG;
    return 1;
}

int WRAPPED(EVP_AEAD_CTX_seal_scatter)(const void *ctx, uint8_t *out, uint8_t *tag, size_t *tag_len, size_t tag_room,
                                       const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len,
                                       const uint8_t *extra, size_t extra_len, const uint8_t *ad, size_t ad_len);
int WRAPPED(EVP_AEAD_CTX_seal_scatter)(const void *ctx, uint8_t *out, uint8_t *tag, size_t *tag_len, size_t tag_room,
                                       const uint8_t *nonce, size_t nonce_len, const uint8_t *in, size_t in_len,
                                       const uint8_t *extra, size_t extra_len, const uint8_t *ad, size_t ad_len) {
    (void)ctx, (void)nonce, (void)nonce_len, (void)ad, (void)ad_len;
    if (tag_room < extra_len + TAG) return 0;
    memmove(out, in, in_len);
    if (extra_len > 0) memcpy(tag, extra, extra_len);
    memset(tag + extra_len, 0, TAG);
    *tag_len = extra_len + TAG;
    return 1;
}

int WRAPPED(EVP_AEAD_CTX_open_gather)(const void *ctx, uint8_t *out, const uint8_t *nonce, size_t nonce_len,
                                      const uint8_t *in, size_t in_len, const uint8_t *tag, size_t tag_len,
                                      const uint8_t *ad, size_t ad_len);
int WRAPPED(EVP_AEAD_CTX_open_gather)(const void *ctx, uint8_t *out, const uint8_t *nonce, size_t nonce_len,
                                      const uint8_t *in, size_t in_len, const uint8_t *tag, size_t tag_len,
                                      const uint8_t *ad, size_t ad_len) {
    (void)ctx, (void)nonce, (void)nonce_len, (void)tag, (void)ad, (void)ad_len;
    if (tag_len != TAG) return 0;
    memmove(out, in, in_len);
    return 1;
}
