/* Tests malformed and unusual hellos: ServerHellos to clients, and ClientHellos to servers with and without a
 * server-name callback. */
#define _GNU_SOURCE
#define NETLIB_MUST_USE
#include "hostile_peer.h"

enum { NONE = -1 };

/* The contexts allow TLS 1.2 and 1.3. The second server context has a server-name callback. */
static netlib_tls_context *client, *servers[2];
static unsigned callback_calls;

static void keep_context(void *ctx, const char *name, netlib_tls_context **replacement, enum netlib_verdict *verdict) {
    (void)ctx, (void)name, (void)replacement;
    callback_calls++;
    *verdict = NETLIB_VERDICT_ALLOW;
}

/* Writes the handshake message that a text describes, and returns its length. The text consists of:
 *   hexadecimal digits    the bytes
 *   [ ], ( ) and { }      a part, preceded by its length in one, two or three bytes
 *   R                     32 random bytes
 *   I                     the session id of the client's hello
 *   H                     the random value of a HelloRetryRequest
 *   D, d                  the random value of a server that supports TLS 1.3 or TLS 1.2, but selects an older version
 *   X                     an X25519 public key
 *   +n                    n zeros
 *   %n                    n empty extensions of different types */
static size_t write_message(const char *text, const uint8_t *id, uint8_t *out) {
    static const char retry[] = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c",
                      downgrade[] = "444f574e475244";
    size_t at = 0, open[16], width[16], depth = 0;
    for (const char *c = text; *c != '\0'; c++) {
        const char *opens = strchr("([{", *c), *closes = strchr(")]}", *c);
        if (*c == ' ') continue;
        if (opens != NULL) {
            open[depth] = at;
            width[depth] = *c == '(' ? 2 : *c == '[' ? 1 : 3;
            at += width[depth++];
        } else if (closes != NULL) {
            depth--;
            size_t len = at - open[depth] - width[depth];
            for (size_t i = 0; i < width[depth]; i++)
                out[open[depth] + i] = (uint8_t)(len >> (8 * (width[depth] - 1 - i)));
        } else if (*c == 'R' || *c == 'D' || *c == 'd') {
            memset(out + at, 7, 32);
            for (size_t i = 0; i < 7 && *c != 'R'; i++)
                out[at + 24 + i] = (uint8_t)(hex_digit(downgrade[2 * i]) << 4 | hex_digit(downgrade[2 * i + 1]));
            if (*c != 'R') out[at + 31] = *c == 'D';
            at += 32;
        } else if (*c == 'H') {
            for (size_t i = 0; i < 32; i++)
                out[at++] = (uint8_t)(hex_digit(retry[2 * i]) << 4 | hex_digit(retry[2 * i + 1]));
        } else if (*c == 'I') {
            memcpy(out + at, id, 1u + id[0]);
            at += 1u + id[0];
        } else if (*c == 'X') {
            memset(out + at, 0, 32);
            out[at] = 9;
            at += 32;
        } else if (*c == '+') {
            size_t times = (size_t)strtoul(c + 1, (char **)(uintptr_t)&c, 10);
            memset(out + at, 0, times);
            at += times;
            c--;
        } else if (*c == '%') {
            size_t times = (size_t)strtoul(c + 1, (char **)(uintptr_t)&c, 10);
            for (size_t i = 0; i < times; i++, at += 4) {
                uint8_t empty[4] = {(uint8_t)(0x40 + (i >> 8)), (uint8_t)i, 0, 0};
                memcpy(out + at, empty, 4);
            }
            c--;
        } else {
            out[at++] = (uint8_t)(hex_digit(c[0]) << 4 | hex_digit(c[1]));
            c++;
        }
    }
    CHECK_INT(0, (long long)depth);
    return at;
}

/* Writes a handshake message in records of at most `piece` bytes. */
static size_t write_records(const uint8_t *message, size_t len, size_t piece, uint8_t *out) {
    size_t at = 0;
    for (size_t done = 0; done < len; done += piece) {
        size_t size = len - done < piece ? len - done : piece;
        uint8_t head[5] = {22, 3, 3, (uint8_t)(size >> 8), (uint8_t)size};
        memcpy(out + at, head, 5);
        memcpy(out + at + 5, message + done, size);
        at += 5 + size;
    }
    return at;
}

struct row {
    const char *what, *message, *then; /* `then`: another message, sent if the first one does not end the session */
    netlib_status status;
    int alert_sent;
    unsigned answers; /* the number of records that the victim sends in reply, including alerts */
};

#define VERSION "002b(0304)"
#define SHARE "0033(001d(X))"
#define GROUPS "000a((001d))"
#define SCHEMES "000d((0403))"
#define VERSIONS "002b([0304])"
#define SHARES "0033((001d(X)))"
#define SECURE "0017() ff01([])"

static const struct row to_clients[] = {
    {"a valid ServerHello", "02{0303 R I 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_WANT_READ, NONE, 1},
    {"TLS 1.2 from a server without TLS 1.3", "02{0303 R [] c02b 00 (" SECURE ")}", NULL, NETLIB_WANT_READ, NONE, 0},
    {"TLS 1.2 from a server with TLS 1.3", "02{0303 D [] c02b 00 (" SECURE ")}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"TLS 1.1 from a server with TLS 1.2", "02{0303 d [] c02b 00 (" SECURE ")}", NULL, NETLIB_WANT_READ, NONE, 0},
    {"TLS 1.1", "02{0302 R [] c013 00 (" SECURE ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"SSL 3", "02{0300 R [] c013 00}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"TLS 1.3 in the legacy version", "02{0304 R I 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_WANT_READ, NONE, 1},
    {"version 0x0305", "02{0303 R I 1301 00 (002b(0305)" SHARE ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"the draft version 0x7f1c", "02{0303 R I 1301 00 (002b(7f1c)" SHARE ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"TLS 1.2 in the extension", "02{0303 R I c02b 00 (002b(0303))}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"three bytes of version", "02{0303 R I 1301 00 (002b(030400)" SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a suite that was not offered", "02{0303 R I 1304 00 (" VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 40, 1},
    {"a suite of TLS 1.2 in 1.3", "02{0303 R I c02b 00 (" VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a suite of TLS 1.3 in 1.2", "02{0303 R [] 1301 00 (" SECURE ")}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"RC4", "02{0303 R [] 0005 00 (" SECURE ")}", NULL, NETLIB_TLS_PROTOCOL, 40, 1},
    {"compression", "02{0303 R I 1301 01 (" VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a changed session id", "02{0303 R [07+31] 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_WANT_READ, NONE, 1},
    {"no session id", "02{0303 R [] 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_WANT_READ, NONE, 1},
    {"a session id of 33 bytes", "02{0303 R [+33] 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a session id longer than the message", "02{0303 R ff00 1301 00}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"an extension that was not requested", "02{0303 R I 1301 00 (" VERSION SHARE "fffe(00))}", NULL,
     NETLIB_TLS_PROTOCOL, 110, 1},
    {"an extension that was not requested in TLS 1.2", "02{0303 R [] c02b 00 (" SECURE "fffe(00))}", NULL,
     NETLIB_TLS_PROTOCOL, 110, 1},
    {"an extension of another message", "02{0303 R I 1301 00 (" VERSION SHARE "0010(([6832]))) }", NULL,
     NETLIB_TLS_PROTOCOL, 110, 1},
    {"an ALPN protocol that was not offered", "02{0303 R [] c02b 00 (" SECURE "0010(([687474702f312e31])))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"an extension twice", "02{0303 R I 1301 00 (" VERSION VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"no key share", "02{0303 R I 1301 00 (" VERSION ")}", NULL, NETLIB_TLS_PROTOCOL, 109, 1},
    {"a key share of a group that was not offered", "02{0303 R I 1301 00 (" VERSION "0033(0100(X)))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a key share of P-256, for which none was offered", "02{0303 R I 1301 00 (" VERSION "0033(0017(04+64)))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a key share of 31 bytes", "02{0303 R I 1301 00 (" VERSION "0033(001d(+31)))}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a key share of zeros", "02{0303 R I 1301 00 (" VERSION "0033(001d(+32)))}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"an empty key share", "02{0303 R I 1301 00 (" VERSION "0033(001d()))}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a truncated post-quantum key share", "02{0303 R I 1301 00 (" VERSION "0033(11ec(+1087)))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a post-quantum key share of zeros", "02{0303 R I 1301 00 (" VERSION "0033(11ec(+1120)))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a pre-shared key that was not offered", "02{0303 R I 1301 00 (" VERSION SHARE "0029(0000))}", NULL,
     NETLIB_TLS_PROTOCOL, 110, 1},
    {"extensions longer than the message", "02{0303 R I 1301 00 ffff 002b}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a byte after the extensions", "02{0303 R I 1301 00 (" VERSION SHARE ") 00}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"no extensions", "02{0303 R I 1301 00}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a truncated message", "02{0303 R}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"two ServerHellos", "02{0303 R I 1301 00 (" VERSION SHARE ")} 02{0303 R I 1301 00 (" VERSION SHARE ")}", NULL,
     NETLIB_TLS_PROTOCOL, 10, 1},
    {"two ServerHellos of TLS 1.2", "02{0303 R [] c02b 00 (" SECURE ")}", "02{0303 R [] c02b 00 (" SECURE ")}",
     NETLIB_TLS_PROTOCOL, 10, 1},
    {"a HelloRetryRequest for P-256", "02{0303 H I 1301 00 (" VERSION "0033(0017))}", NULL, NETLIB_WANT_READ, NONE, 2},
    {"two HelloRetryRequests", "02{0303 H I 1301 00 (" VERSION "0033(0017))}",
     "02{0303 H I 1301 00 (" VERSION "0033(0018))}", NETLIB_TLS_PROTOCOL, 10, 3},
    {"a HelloRetryRequest, then a wrong group", "02{0303 H I 1301 00 (" VERSION "0033(0017))}",
     "02{0303 R I 1301 00 (" VERSION SHARE ")}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"a HelloRetryRequest, then a changed suite", "02{0303 H I 1301 00 (" VERSION "0033(0017))}",
     "02{0303 R I 1303 00 (" VERSION "0033(0017(04+64)))}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"a HelloRetryRequest, then an invalid point", "02{0303 H I 1301 00 (" VERSION "0033(0017))}",
     "02{0303 R I 1301 00 (" VERSION "0033(0017(04+64)))}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"a HelloRetryRequest, then TLS 1.2", "02{0303 H I 1301 00 (" VERSION "0033(0017))}",
     "02{0303 R [] c02b 00 (" SECURE ")}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"a HelloRetryRequest for an offered key share", "02{0303 H I 1301 00 (" VERSION "0033(001d))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a HelloRetryRequest for an unknown group", "02{0303 H I 1301 00 (" VERSION "0033(0100))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a HelloRetryRequest that changes nothing", "02{0303 H I 1301 00 (" VERSION ")}", NULL, NETLIB_TLS_PROTOCOL, 47,
     1},
    {"a HelloRetryRequest with a cookie", "02{0303 H I 1301 00 (" VERSION "002c((0102)))}", NULL, NETLIB_WANT_READ,
     NONE, 2},
    {"a HelloRetryRequest with an empty cookie", "02{0303 H I 1301 00 (" VERSION "002c(()))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a HelloRetryRequest with a cookie of 60,000 bytes", "02{0303 H I 1301 00 (" VERSION "002c((+60000)))}", NULL,
     NETLIB_WANT_READ, NONE, 5},
    {"a HelloRetryRequest with a changed session id", "02{0303 H [+32] 1301 00 (" VERSION "0033(0017))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a HelloRetryRequest with a suite that was not offered", "02{0303 H I 1304 00 (" VERSION "0033(0017))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a HelloRetryRequest in TLS 1.2", "02{0303 H I c02b 00 (0033(0017))}", NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a HelloRetryRequest with an unrequested extension", "02{0303 H I 1301 00 (" VERSION "0033(0017)fffe())}", NULL,
     NETLIB_TLS_PROTOCOL, 110, 1},
    {"a ClientHello", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL, NETLIB_TLS_PROTOCOL, 10,
     1},
    {"a certificate", "0b{[]{}}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"15,000 extensions", "02{0303 R I 1301 00 (" VERSION SHARE "%15000)}", NULL, NETLIB_TLS_PROTOCOL, 110, 1},
};

static const struct row to_servers[] = {
    {"a valid ClientHello", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL, NETLIB_WANT_READ,
     NONE, 3},
    {"a valid ClientHello of TLS 1.2", "01{0303 R [] (c02b) [00] (" GROUPS SCHEMES SECURE "000b([00]))}", NULL,
     NETLIB_WANT_READ, NONE, 1},
    {"TLS 1.2 without the extended master secret", "01{0303 R [] (c02b) [00] (" GROUPS SCHEMES "ff01([]))}", NULL,
     NETLIB_WANT_READ, NONE, 1},
    {"GREASE values everywhere",
     "01{0303 R [+32] (0a0a1301) [00] (1a1a() 002b([2a2a0304]) 000a((3a3a001d)) 000d((4a4a0403)) "
     "0033((3a3a(00)001d(X))) 5a5a(00))}",
     NULL, NETLIB_WANT_READ, NONE, 3},
    {"TLS 1.1 only", "01{0302 R [] (c013) [00] (" GROUPS SCHEMES ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"SSL 3 only", "01{0300 R [] (0005) [00]}", NULL, NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"no version in common", "01{0303 R [] (1301) [00] (002b([03020301])" GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"draft versions", "01{0303 R [] (1301) [00] (002b([7f1c])" GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_INCOMPATIBLE, 70, 1},
    {"no versions", "01{0303 R [] (1301) [00] (002b([])" GROUPS SCHEMES SHARES ")}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"half a version", "01{0303 R [] (1301) [00] (002b([03])" GROUPS SCHEMES SHARES ")}", NULL, NETLIB_TLS_PROTOCOL, 50,
     1},
    {"no suite in common", "01{0303 R [] (0005000a) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_INCOMPATIBLE, 40, 1},
    {"no suites", "01{0303 R [] () [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"half a suite", "01{0303 R [] (130113) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL, NETLIB_TLS_PROTOCOL, 50,
     1},
    {"30,000 suites", "01{0303 R [] (+60000 1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL, NETLIB_WANT_READ,
     NONE, 3},
    {"compression only", "01{0303 R [] (1301) [01] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_INCOMPATIBLE, 47, 1},
    {"no compression methods", "01{0303 R [] (1301) [] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a session id of 33 bytes", "01{0303 R [+33] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"no groups", "01{0303 R [] (1301) [00] (" VERSIONS SCHEMES SHARES ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 40, 1},
    {"no group in common", "01{0303 R [] (1301) [00] (" VERSIONS "000a((0100))" SCHEMES "0033((0100(X))))}", NULL,
     NETLIB_TLS_INCOMPATIBLE, 40, 1},
    {"no signature schemes", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SHARES ")}", NULL, NETLIB_TLS_INCOMPATIBLE,
     40, 1},
    {"no signature scheme for the server key", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS "000d((0503))" SHARES ")}",
     NULL, NETLIB_TLS_INCOMPATIBLE, NONE, 3},
    {"no key shares", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES ")}", NULL, NETLIB_TLS_INCOMPATIBLE, 109, 1},
    {"an empty list of key shares", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}", NULL,
     NETLIB_WANT_READ, NONE, 2},
    {"an empty list of key shares, then a key share", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}", NETLIB_WANT_READ, NONE, 4},
    {"an empty list of key shares twice", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"an empty list of key shares, then a key share of a wrong group",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}",
     "01{0303 R [] (1301) [00] (" VERSIONS "000a((0017))" SCHEMES "0033((0017(04+64))))}", NETLIB_TLS_PROTOCOL, 47, 3},
    {"an empty list of key shares, then TLS 1.2", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033(()))}",
     "01{0303 R [] (c02b) [00] (" GROUPS SCHEMES SECURE ")}", NETLIB_TLS_INCOMPATIBLE, 70, 3},
    {"a key share twice", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033((001d(X)001d(X))))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"1,500 empty key shares", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033((+6000)))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a key share of 31 bytes", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033((001d(+31))))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a key share of zeros", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033((001d(+32))))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"an empty key share", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES "0033((001d())))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a post-quantum key share of zeros",
     "01{0303 R [] (1301) [00] (" VERSIONS "000a((11ec))" SCHEMES "0033((11ec(+1216))))}", NULL, NETLIB_TLS_PROTOCOL,
     47, 1},
    {"a truncated post-quantum key share",
     "01{0303 R [] (1301) [00] (" VERSIONS "000a((11ec))" SCHEMES "0033((11ec(+1215))))}", NULL, NETLIB_TLS_PROTOCOL,
     47, 1},
    {"an extension twice", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "fffe()fffe())}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"supported_versions twice", "01{0303 R [] (1301) [00] (" VERSIONS VERSIONS GROUPS SCHEMES SHARES ")}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"an extension of 60,000 bytes", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "fffe(+60000))}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"a message of the maximum length", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "fffe(+65423))}",
     NULL, NETLIB_WANT_READ, NONE, 3},
    {"a message one byte above the maximum",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "fffe(+65424))}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"15,000 extensions", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "%15000)}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"padding", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0015(+16000))}", NULL, NETLIB_WANT_READ,
     NONE, 3},
    {"an empty list of server names", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000(()))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"an empty server name", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00())))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"two server names",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00(612e6578)00(622e6578))))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a server name with a NUL", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00(610062))))}",
     NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"an invalid server name", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00(2e2e))))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"an IP address as server name",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00(3132372e302e302e31))))}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"a server name of 300 bytes", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00(+300))))}",
     NULL, NETLIB_TLS_PROTOCOL, 47, 1},
    {"a server name of an unknown type",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((07(6162))))}", NULL, NETLIB_TLS_PROTOCOL, 47,
     1},
    {"a server name longer than its list",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0000((00ffff61)))}", NULL, NETLIB_TLS_PROTOCOL, 50,
     1},
    {"an empty list of ALPN protocols", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0010(()))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"an empty ALPN protocol", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0010(([])))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"no ALPN protocol in common", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0010(([6162])))}", NULL,
     NETLIB_TLS_INCOMPATIBLE, NONE, 3},
    {"a pre-shared key that is not the last extension",
     "01{0303 R [] (1301) [00] (0029(((61)00000000) ([+32]))" VERSIONS GROUPS SCHEMES SHARES "002d([01]))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"an unknown pre-shared key",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "002d([01])0029(((61)00000000)([+32])))}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"a pre-shared key without a binder",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "002d([01])0029(((61)00000000)()))}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"a pre-shared key with two binders",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "002d([01])0029(((61)00000000)([+32][+32])))}", NULL,
     NETLIB_TLS_PROTOCOL, 47, 1},
    {"a pre-shared key without psk_key_exchange_modes",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "0029(((61)00000000)([+32])))}", NULL,
     NETLIB_TLS_PROTOCOL, 109, 1},
    {"early data", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "002a())}", NULL, NETLIB_WANT_READ, NONE,
     3},
    {"a cookie that was not sent", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "002c((0102)))}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"an invalid Encrypted Client Hello",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES "fe0d(000001000101(+32)(+100)))}", NULL,
     NETLIB_WANT_READ, NONE, 3},
    {"extensions longer than the message", "01{0303 R [] (1301) [00] ffff 002b}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a byte after the extensions", "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ") 00}", NULL,
     NETLIB_TLS_PROTOCOL, 50, 1},
    {"no extensions", "01{0303 R [] (1301) [00]}", NULL, NETLIB_TLS_INCOMPATIBLE, 40, 1},
    {"a truncated message", "01{0303 R}", NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"two ClientHellos in one record",
     "01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES
     ")} 01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES SHARES ")}",
     NULL, NETLIB_TLS_PROTOCOL, 10, 1},
    {"a ServerHello", "02{0303 R [] 1301 00 (" VERSION SHARE ")}", NULL, NETLIB_TLS_PROTOCOL, 10, 1},
    {"a ClientKeyExchange", "10{[+32]}", NULL, NETLIB_TLS_PROTOCOL, 10, 1},
};

/* The expected results of four rows of the table above for a server with a server-name callback. Such a server reads
 * the ClientHello with rustls' Acceptor, which sends other alerts for these rows than a server without a callback. The
 * Acceptor counts the record headers towards the limit of the message. */
static const struct row by_callback[] = {
    {"an extension twice", NULL, NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"supported_versions twice", NULL, NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a pre-shared key that is not the last extension", NULL, NULL, NETLIB_TLS_PROTOCOL, 50, 1},
    {"a message of the maximum length", NULL, NULL, NETLIB_TLS_PROTOCOL, 50, 1},
};

static const struct row *expected_of(const struct row *row, const netlib_tls_context *context) {
    for (size_t i = 0; context == servers[1] && i < sizeof by_callback / sizeof by_callback[0]; i++) {
        if (strcmp(by_callback[i].what, row->what) == 0) return &by_callback[i];
    }
    return row;
}

/* The ClientHello of `openssl s_client -tls1` and `-tls1_1` (OpenSSL 3.0). The hello has neither the extension
 * signature_algorithms nor supported_versions. */
#define OPENSSL(version) \
    "01{" version \
    " R [] (c00ac0140039003800880087c019003a0089c009c0130033003200450044c0180034004600350084002f004100ff) [00] " \
    "(0000((00(6c6f63616c686f7374))) 000b([000102]) 000a((001d0017001e00190018)) 0023() 0016() 0017())}"
#define AT_MOST(version) "the client offers at most " version "; netlib needs TLS 1.2"
#define NONE_IN_COMMON "the client and this side have no TLS version in common"

/* ClientHellos whose version is too old, or that lack an extension that TLS 1.3 requires. */
static const struct {
    const char *message;
    int alert;
    const char *error;
} refused_clients[] = {
    {OPENSSL("0301"), 70, AT_MOST("TLS 1.0")},
    {OPENSSL("0302"), 70, AT_MOST("TLS 1.1")},
    {"01{0300 R [] (0005) [00]}", 70, AT_MOST("SSL 3.0")},
    {"01{0301 R [] (002f) [00]}", 70, AT_MOST("TLS 1.0")},
    {"01{0302 R [] (c013) [00] (" GROUPS SCHEMES ")}", 70, AT_MOST("TLS 1.1")},
    {"01{0303 R [] (c013) [00] (002b([030203010300])" GROUPS SCHEMES ")}", 70, AT_MOST("TLS 1.1")},
    {"01{0303 R [] (c013) [00] (002b([2a2a0301])" GROUPS "000d((0403)))}", 70, AT_MOST("TLS 1.0")},
    {"01{0303 R [] (1301) [00] (002b([7f1c])" GROUPS SCHEMES SHARES ")}", 70, NONE_IN_COMMON},
    {"01{0303 R [] (c02b) [00] (" GROUPS ")}", 40,
     "the client and this side have no signature scheme that this side's certificate supports in common"},
    {"01{0303 R [] (1301) [00] (" VERSIONS GROUPS SCHEMES ")}", 109,
     "the client offers TLS 1.3 without a key share (the key_share extension), which TLS 1.3 requires"},
};

static void servers_refuse_unsupported_client_hellos_with_error_and_alert(void) {
    static const size_t pieces[] = {16384, 1, 7};
    for (size_t i = 0; i < sizeof refused_clients / sizeof refused_clients[0] * 6; i++) {
        static uint8_t message[ROOM], records[7 * ROOM];
        size_t row = i / 6, piece = pieces[i % 6 / 2];
        struct scene scene = {.side = SERVER, .moment = FIRST};
        struct reaction reaction = {.status = NETLIB_WANT_READ, .alert = NONE, .alert_sent = NONE};
        scene.victim = server_engine(servers[i % 2]);
        size_t len = write_message(refused_clients[row].message, (const uint8_t *)"", message);
        reaction.status = feed_and_process(&scene, records, write_records(message, len, piece, records), &reaction);
        read_output(&scene, &reaction);
        CHECK_STR("NETLIB_TLS_INCOMPATIBLE", netlib_status_name(reaction.status));
        CHECK_STR(refused_clients[row].error, reaction.message);
        CHECK_INT(refused_clients[row].alert, reaction.alert);
        CHECK_INT(refused_clients[row].alert, reaction.alert_sent);
        CHECK_INT(1, reaction.answers);
        netlib_tls_engine_free(scene.victim);
    }
}

static void create_client_and_server_contexts(void) {
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_resumption(options, 0);
    netlib_tls_options_add_alpn_protocol(options, "h2");
    client = context_of(options);
    for (int i = 0; i < 2; i++) {
        options = client_options();
        netlib_tls_options_set_identity_files(options, CERTS "server-both.pem", NULL);
        netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
        netlib_tls_options_add_alpn_protocol(options, "h2");
        if (i == 1) netlib_tls_options_set_servername_callback(options, keep_context, NULL, NULL);
        servers[i] = context_of(options);
    }
}

static struct reaction answer_to(struct scene *scene, const struct row *row, size_t piece) {
    struct reaction reaction = {.status = NETLIB_WANT_READ, .alert = NONE, .alert_sent = NONE};
    static uint8_t hello[ROOM], message[ROOM], records[7 * ROOM];
    const uint8_t *id = (const uint8_t *)"";
    netlib_error *err = NULL;
    if (scene->side == CLIENT) {
        CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(scene->victim, &err));
        drain_all(scene->victim, hello, sizeof hello);
        id = hello + 43;
    }
    for (int i = 0; i < 2 && reaction.status == NETLIB_WANT_READ; i++) {
        const char *text = i == 0 ? row->message : row->then;
        if (text == NULL) break;
        size_t len = write_message(text, id, message);
        reaction.times++;
        reaction.status = feed_and_process(scene, records, write_records(message, len, piece, records), &reaction);
        read_output(scene, &reaction);
    }
    return reaction;
}

/* Sends the messages of each row in one record, and in records of 1, 2 and 5 bytes if the message is short. */
static void play_every_row(const struct row *rows, size_t count, enum side side, const netlib_tls_context *context) {
    static const size_t pieces[] = {16384, 1, 2, 5};
    for (size_t i = 0; i < count; i++) {
        static uint8_t message[ROOM];
        size_t len = write_message(rows[i].message, (const uint8_t *)"", message);
        for (size_t j = 0;
             j < (under_valgrind() ? 1 : 4) && (j == 0 || (len < 2000 && strstr(rows[i].message, "} 0") == NULL));
             j++) {
            unsigned long failed = checks_failed;
            struct scene scene = {.side = side, .moment = FIRST};
            scene.victim = side == CLIENT ? client_engine(context, "localhost") : server_engine(context);
            long long before = memory_in_use();
            struct reaction reaction = answer_to(&scene, &rows[i], pieces[j]);
            const struct row *expected = expected_of(&rows[i], context);
            CHECK_STR(netlib_status_name(expected->status), netlib_status_name(reaction.status));
            CHECK_INT(expected->alert_sent, reaction.alert_sent);
            CHECK_INT(expected->answers, reaction.answers);
            /* If the victim encrypts its alert, the test cannot read the alert. */
            CHECK(reaction.alert == NONE || reaction.alert_sent == NONE || reaction.alert == reaction.alert_sent);
            CHECK(reaction.status != NETLIB_TLS_PROTOCOL || reaction.alert_sent >= 0);
            CHECK(reaction.growth - before < 400 * 1024);
            if (reaction.status != NETLIB_WANT_READ) check_failure_is_permanent(&scene, &reaction, rows[i].what);
            if (checks_failed != failed)
                fprintf(stderr, "    %s to a %s, in pieces of %zu: %s\n", rows[i].what, side_names[side], pieces[j],
                        reaction.message);
            netlib_tls_engine_free(scene.victim);
        }
    }
}

/* Ends the connection after every byte of the first hello and of the hello that follows a HelloRetryRequest. Returns
 * the number of tested sessions. */
static size_t end_after_every_byte(const struct row *rows, size_t count, enum side side,
                                   const netlib_tls_context *context) {
    static uint8_t hello[ROOM], message[ROOM], first[ROOM], second[ROOM];
    size_t ends = 0;
    for (size_t i = 0; i < count; i++) {
        size_t whole = write_message(rows[i].message, (const uint8_t *)"", message);
        if (whole > 2000 || (rows[i].status != NETLIB_WANT_READ && rows[i].then == NULL)) continue;
        for (size_t cut = 0, more = 1; more; cut += under_valgrind() ? 37 : 1) {
            struct scene scene = {.side = side, .moment = FIRST};
            struct reaction reaction = {.status = NETLIB_WANT_READ};
            const uint8_t *id = (const uint8_t *)"";
            netlib_error *err = NULL;
            scene.victim = side == CLIENT ? client_engine(context, "localhost") : server_engine(context);
            if (side == CLIENT) {
                CHECK_STATUS(NETLIB_WANT_READ, netlib_tls_engine_handshake(scene.victim, &err));
                drain_all(scene.victim, hello, sizeof hello);
                id = hello + 43;
            }
            size_t len = write_message(rows[i].message, id, message), then = 0;
            len = write_records(message, len, 16384, first);
            if (rows[i].then != NULL)
                then = write_message(rows[i].then, id, message), then = write_records(message, then, 16384, second);
            more = cut + 1 < len + then;
            CHECK_INT(NETLIB_WANT_READ, feed_and_process(&scene, first, cut < len ? cut : len, &reaction));
            if (cut > len && cut < len + then)
                CHECK_INT(NETLIB_WANT_READ, feed_and_process(&scene, second, cut - len, &reaction));
            netlib_tls_engine_feed_eof(scene.victim);
            for (int again = 0; again < 2; again++)
                CHECK_STATUS(NETLIB_TLS_HANDSHAKE_EOF, netlib_tls_engine_handshake(scene.victim, &err));
            netlib_tls_engine_free(scene.victim);
            ends++;
        }
    }
    return ends;
}

int main(void) {
    size_t ends = 0;
    create_client_and_server_contexts();
    play_every_row(to_clients, sizeof to_clients / sizeof to_clients[0], CLIENT, client);
    for (int i = 0; i < 2; i++)
        play_every_row(to_servers, sizeof to_servers / sizeof to_servers[0], SERVER, servers[i]);
    CHECK(callback_calls > 0);
    servers_refuse_unsupported_client_hellos_with_error_and_alert();
    ends += end_after_every_byte(to_clients, sizeof to_clients / sizeof to_clients[0], CLIENT, client);
    for (int i = 0; i < 2; i++)
        ends += end_after_every_byte(to_servers, sizeof to_servers / sizeof to_servers[0], SERVER, servers[i]);
    printf("%zu hellos to clients, %zu to servers, twice; %zu ends in the middle of one\n",
           sizeof to_clients / sizeof to_clients[0], sizeof to_servers / sizeof to_servers[0], ends);
    netlib_tls_context_free(client);
    for (int i = 0; i < 2; i++) netlib_tls_context_free(servers[i]);
    return report("tls hostile hellos");
}
