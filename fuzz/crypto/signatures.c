/* Signature verification that always succeeds, so that altered data is not refused because of its signature. */
#include "wrapped.h"

int WRAPPED(EVP_DigestVerify)(void *ctx, const uint8_t *signature, size_t signature_len, const uint8_t *data,
                              size_t len);
int WRAPPED(EVP_DigestVerify)(void *ctx, const uint8_t *signature, size_t signature_len, const uint8_t *data,
                              size_t len) {
    (void)ctx, (void)signature, (void)signature_len, (void)data, (void)len;
    return 1;
}
