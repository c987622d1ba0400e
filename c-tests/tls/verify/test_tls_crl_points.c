/* Tests CRLs with malformed issuing distribution points: the input of RUSTSEC-2026-0104, and similar inputs. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "tls_peer.h"

/* A buffer for DER that is written backwards, so that a value is written before its tag and length. */
struct der {
    unsigned char bytes[600];
    size_t start;
};

static void put(struct der *der, const char *bytes, size_t len) {
    der->start -= len;
    memcpy(der->bytes + der->start, bytes, len);
}

/* Writes a tag and a length, which make all bytes up to `end` the content of one value. */
static void enclose(struct der *der, int tag, size_t end) {
    size_t len = end - der->start;
    char head[3] = {(char)tag, (char)0x81, (char)len};
    if (len < 128) {
        head[1] = (char)len;
        put(der, head, 2);
    } else {
        put(der, head, 3);
    }
}

#define PUT(der, text) put((der), (text), sizeof(text) - 1)

/* ecdsa-with-SHA256 */
static const char algorithm[] = "\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02";
/* CN=x */
static const char issuer[] = "\x30\x0c\x31\x0a\x30\x08\x06\x03\x55\x04\x03\x0c\x01x";

/* Writes a version 2 CRL without entries, with `point` as its issuing distribution point, and with an invalid
 * signature. */
static struct der list_with(const char *point, size_t len) {
    struct der der = {.start = sizeof der.bytes};
    size_t whole = der.start;
    PUT(&der, "\x03\x03\x00\x01\x02");
    PUT(&der, algorithm);
    size_t signed_end = der.start;
    put(&der, point, len);
    enclose(&der, 0x30, signed_end); /* the distribution point */
    enclose(&der, 0x04, signed_end);
    PUT(&der, "\x06\x03\x55\x1d\x1c\x01\x01\xff"); /* issuingDistributionPoint, critical */
    enclose(&der, 0x30, signed_end);
    PUT(&der, "\x30\x0a\x06\x03\x55\x1d\x14\x04\x03\x02\x01\x01"); /* cRLNumber 1 */
    enclose(&der, 0x30, signed_end);
    enclose(&der, 0xa0, signed_end);
    PUT(&der, "\x17\x0d"
              "260101000000Z"
              "\x17\x0d"
              "360101000000Z");
    PUT(&der, issuer);
    PUT(&der, algorithm);
    PUT(&der, "\x02\x01\x01");
    enclose(&der, 0x30, signed_end);
    enclose(&der, 0x30, whole);
    return der;
}

struct row {
    const char *name, *point;
    size_t len;
    netlib_status status;
};

#define POINT(text) (text), sizeof(text) - 1
#define PLACE "\xa0\x0a\xa0\x08\x86\x06http:x"

static void crls_with_unsupported_or_malformed_distribution_points_are_refused(void) {
    static const struct row rows[] = {
        {"a point with a name", POINT(PLACE), NETLIB_OK},
        {"for user certificates only", POINT(PLACE "\x81\x01\xff"), NETLIB_OK},
        {"some reasons: none, as a valid empty BIT STRING", POINT(PLACE "\x83\x01\x00"), NETLIB_UNSUPPORTED},
        {"some reasons: no number of unused bits", POINT(PLACE "\x83\x00"), NETLIB_INVALID_PEM},
        {"some reasons: unused bits without any bits", POINT(PLACE "\x83\x01\x07"), NETLIB_INVALID_PEM},
        {"some reasons: eight unused bits", POINT(PLACE "\x83\x02\x08\x80"), NETLIB_INVALID_PEM},
        {"some reasons: one", POINT(PLACE "\x83\x02\x05\x20"), NETLIB_UNSUPPORTED},
        {"some reasons, cut off", POINT(PLACE "\x83\x02\x05"), NETLIB_INVALID_PEM},
        {"some reasons without a name", POINT("\x83\x01\x00"), NETLIB_UNSUPPORTED},
        {"an indirect CRL", POINT(PLACE "\x84\x01\xff"), NETLIB_UNSUPPORTED},
        {"no content", POINT(""), NETLIB_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct der der = list_with(rows[i].point, rows[i].len);
        netlib_error *err = NULL;
        netlib_tls_context *context = NULL;
        netlib_tls_options *options = client_options();
        netlib_tls_options_add_crl_data(options, der.bytes + der.start, sizeof der.bytes - der.start);
        netlib_status status = netlib_tls_context_new(options, &context, &err);
        if (status != rows[i].status) fprintf(stderr, "row \"%s\":\n", rows[i].name);
        CHECK_STATUS(rows[i].status, status);
        CHECK((context != NULL) == (status == NETLIB_OK));
        netlib_tls_context_free(context);
        netlib_tls_options_free(options);
    }
}

int main(void) {
    crls_with_unsupported_or_malformed_distribution_points_are_refused();
    return report("tls_crl_points");
}
