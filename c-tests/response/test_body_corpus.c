/*
 * Compares the body decoder with h11 and llhttp. The program generates 100,000 messages from a fixed seed: heads with
 * each framing, and bodies that are valid or mutated. netlib decodes each message whole, byte by byte and in pieces of
 * random sizes, and must find the same result each time. tests/vectors/bodies.py recorded the results of h11 and llhttp
 * for the same messages. netlib may refuse more messages than h11 and llhttp, for one of the reasons in the table
 * `reasons`. The results for all other messages must be equal.
 *
 * With the argument "print", the program checks nothing, but prints the messages, from which bodies.py records the
 * results of h11 and llhttp. Each message is printed as its head and the bytes after its head, in hexadecimal digits.
 */
#include "harness.h"
#include <ctype.h>

enum { MESSAGES = 100000, LINE = 100, MOST = 1024 };

/* --- the messages ------------------------------------------------------------------------------------------------- */

struct message {
    const char *head;
    char text[MOST]; /* the bytes after the head */
    size_t len;
};

static uint64_t random_state;

/* Returns a random number below `limit`, from the generator SplitMix64. */
static size_t pick(size_t limit) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (size_t)((z ^ (z >> 31)) % limit);
}

#define PICK(list) (list)[pick(sizeof(list) / sizeof((list)[0]))]

static void add(struct message *message, const char *bytes, size_t len) {
    if (message->len + len > MOST) len = MOST - message->len;
    memcpy(message->text + message->len, bytes, len);
    message->len += len;
}

static void add_text(struct message *message, const char *text) { add(message, text, strlen(text)); }

static void add_chunks(struct message *message) {
    static const char *const formats[] = {"%zx", "%zx", "%zx", "%zX", "0%zx", "000%zx"};
    static const char *const extensions[] = {"",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             "",
                                             ";a",
                                             ";a=b",
                                             ";a=\"b\"",
                                             ";a;bc",
                                             ";a=b;c=de",
                                             ";a=\" ;\t\"",
                                             ";a=\"\\\"\"",
                                             ";a=\"\xc3\xa9\"",
                                             ";=",
                                             "; ",
                                             ";a=",
                                             ";a = b",
                                             " ;a"};
    static const char *const pieces[] = {"a", "0", "hello", "\r\n", "0\r\n\r\n", "5;a=b\r\n", "\n", "\xff", "A: b\r\n"};
    for (size_t chunks = pick(4); chunks > 0; chunks--) {
        struct message data = {.len = 0};
        for (size_t count = 1 + pick(3); count > 0; count--) add_text(&data, PICK(pieces));
        if (pick(8) == 0) {
            for (size_t count = pick(30); count > 0; count--) add_text(&data, "0123456789");
        }
        char line[64];
        int len = snprintf(line, sizeof line, PICK(formats), data.len);
        add(message, line, (size_t)len);
        add_text(message, PICK(extensions));
        add_text(message, "\r\n");
        add(message, data.text, data.len);
        add_text(message, "\r\n");
    }
    static const char *const last[] = {"0", "0", "0", "0", "00", "0000000000000000"};
    add_text(message, PICK(last));
    if (pick(4) == 0) add_text(message, PICK(extensions));
    add_text(message, "\r\n");
    static const char *const trailers[] = {"A: b\r\n", "ETag: \"x y\"\r\n", "X-Long-Name:value\r\n",
                                           "a:\r\n",   "A:\t b \t\r\n",     "A: \xc3\xa9\r\n"};
    static const char *const refused[] = {"Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n", "Host: h\r\n",
                                          "A: b\r\n c\r\n"};
    if (pick(3) == 0) {
        for (size_t count = 1 + pick(3); count > 0; count--) add_text(message, PICK(trailers));
        if (pick(8) == 0) add_text(message, PICK(refused));
    }
    add_text(message, "\r\n");
}

/* Replaces `cut` bytes at an offset with other bytes. */
static void splice(struct message *message, size_t at, size_t cut, const char *bytes, size_t len) {
    struct message rest = {.len = 0};
    if (at > message->len) at = message->len;
    if (cut > message->len - at) cut = message->len - at;
    add(&rest, message->text + at + cut, message->len - at - cut);
    message->len = at;
    add(message, bytes, len);
    add(message, rest.text, rest.len);
}

static void mutate(struct message *message) {
    static const char bytes[] = "\r\n\t ;=\"\\05aAxXgG+-_.,:\0\x01\x0b\x7f\x80\xff";
    static const char *const tokens[] = {"0x",
                                         " ",
                                         "\t",
                                         "\r\n",
                                         "\n",
                                         "\r",
                                         "\r\r\n",
                                         "\n\n",
                                         "\r\n ",
                                         "0\r\n\r\n",
                                         ";a",
                                         ";",
                                         "=",
                                         "\"",
                                         "-",
                                         "+5",
                                         "ffffffffffffffff",
                                         "7fffffffffffffff",
                                         "8000000000000000",
                                         "10000000000000000",
                                         "00000000000000000",
                                         "A: b\r\n",
                                         "Content-Length: 5\r\n",
                                         "Trailer: A\r\n",
                                         ": b\r\n",
                                         "A b\r\n",
                                         "A : b\r\n"};
    size_t at = pick(message->len + 1);
    /* Half of the mutations change the bytes around a line end. */
    if (pick(2) == 0) {
        const char *end = memchr(message->text + at, '\r', message->len - at);
        if (end != NULL) at = (size_t)(end - message->text) + pick(4) - 1;
    }
    const char *token = PICK(tokens);
    switch (pick(6)) {
    case 0: splice(message, at, 1, &bytes[pick(sizeof bytes - 1)], 1); break;
    case 1: splice(message, at, 0, &bytes[pick(sizeof bytes - 1)], 1); break;
    case 2: splice(message, at, 1 + pick(3), "", 0); break;
    case 3: splice(message, at, 0, token, strlen(token)); break;
    case 4: splice(message, at, pick(3), token, strlen(token)); break;
    default:
        if (at < message->len && pick(3) == 0) message->len = at;
    }
}

/* Generates the message with this number. A message depends only on its number. */
static struct message generate(size_t number) {
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\n\r\n",        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 204 x\r\n\r\n",         "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 404 x\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n",
    };
    struct message message = {.head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"};
    random_state = number * 0x2545f4914f6cdd1d + 20261123;
    if (pick(10) == 0) message.head = PICK(heads);
    add_chunks(&message);
    if (pick(3) > 0) {
        for (size_t count = 1 + pick(2); count > 0; count--) mutate(&message);
    }
    if (pick(4) == 0) add_text(&message, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    return message;
}

/* --- netlib's results --------------------------------------------------------------------------------------------- */

/* The result of decoding one message. `code` is 'x' if the message is refused, '.' if it is incomplete, and otherwise
 * one of 61 letters and digits: a checksum of the body, of the number of bytes that belong to the message, and of the
 * trailer. */
struct result {
    char code;
    char message[128]; /* the error message, if the message is refused */
    int64_t offset;
    uint32_t sum;
};

static void update(uint32_t *sum, const char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) *sum = (*sum ^ (uint8_t)bytes[i]) * 16777619;
}

static void update_trailers(uint32_t *sum, const netlib_headers *trailers) {
    for (size_t i = 0; i < netlib_headers_count(trailers); i++) {
        size_t len = 0;
        for (const char *name = netlib_headers_name(trailers, i, NULL); *name != '\0'; name++) {
            char lower = (char)tolower((unsigned char)*name);
            update(sum, &lower, 1);
        }
        const char *value = netlib_headers_value(trailers, i, &len);
        update(sum, ":", 1);
        update(sum, value, len);
        update(sum, "\n", 1);
    }
}

/* Decodes the bytes after the head, which arrive in pieces of `step` bytes, or of random sizes if `step` is 0. */
static struct result decode(netlib_response *response, const struct message *message, size_t step) {
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz";
    struct result result = {.sum = 2166136261, .offset = -1};
    netlib_error *err = NULL;
    netlib_body_decoder *decoder = NULL;
    CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
    size_t start = 0, end = 0, consumed = 0, body_len = 0;
    netlib_status status = NETLIB_OK;
    do {
        const uint8_t *body = NULL;
        const char *data = message->text + start;
        status = netlib_body_decoder_decode(decoder, data, end - start, &consumed, &body, &body_len, &err);
        if (status == NETLIB_OK) {
            if ((const char *)body + body_len != data + consumed) CHECK(!"the piece ends at the consumed bytes");
            update(&result.sum, (const char *)body, body_len);
        }
        start += consumed;
        if (status == NETLIB_WANT_READ) {
            if (start != end) CHECK(!"all bytes are consumed");
            size_t more = step > 0 ? step : 1 + pick(9);
            if (end == message->len) {
                status = netlib_body_decoder_end(decoder, &err);
            } else {
                end = more < message->len - end ? end + more : message->len;
                status = NETLIB_OK;
            }
        }
    } while (status == NETLIB_OK);
    if (status == NETLIB_END_OF_STREAM) {
        char line[40];
        int len = snprintf(line, sizeof line, "\n%zu\n", start);
        update(&result.sum, line, (size_t)len);
        update_trailers(&result.sum, netlib_body_decoder_trailers(decoder));
        result.code = letters[result.sum % (sizeof letters - 1)];
    } else {
        result.code = status == NETLIB_PROTOCOL ? 'x' : '.';
        snprintf(result.message, sizeof result.message, "%s", netlib_error_message(err, NULL));
        result.offset = netlib_error_offset(err);
        if (status != NETLIB_PROTOCOL) CHECK_INT(NETLIB_INCOMPLETE_READ, status);
    }
    netlib_error_free(err);
    netlib_body_decoder_free(decoder);
    return result;
}

/* Decodes a message whole, byte by byte and in random pieces, and checks that the results are equal. */
static struct result decode_all_ways(const struct message *message) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t head_len = 0;
    CHECK_OK(netlib_response_parse("GET", message->head, NETLIB_NTS, NULL, &response, &head_len, &err));
    struct result whole = decode(response, message, MOST);
    for (int random = 0; random < 2; random++) {
        struct result pieces = decode(response, message, random == 0 ? 1 : 0);
        CHECK(pieces.code == whole.code && pieces.sum == whole.sum && pieces.offset == whole.offset &&
              strcmp(pieces.message, whole.message) == 0);
    }
    netlib_response_free(response);
    return whole;
}

/* --- the comparison ----------------------------------------------------------------------------------------------- */

enum { H11, LLHTTP, PARSERS };
static const char *const parsers[] = {"h11", "llhttp"};

/* The reasons for which netlib refuses messages that h11 or llhttp accepts or still considers incomplete. A reason
 * applies if netlib's error message contains `message`; if several reasons apply, the first one counts. h11 checks a
 * line only when the line is complete, and a trailer only when the trailer is complete. */
static const struct {
    const char *message, *reason;
} reasons[] = {
    {"allowed in a chunk size", "h11 allows whitespace after a chunk size"},
    {"allowed in a chunk extension", "h11 allows any chunk extension; llhttp allows empty names and values"},
    {"a chunk size has more than 16 digits", "h11 allows 20 digits; llhttp allows any number of leading zeros"},
    {"a chunk size is larger than", "h11 and llhttp allow chunk sizes above INT64_MAX"},
    {"follows a CR", "h11 allows CR in a chunk extension"},
    {"a trailer line ends with LF without CR", "h11 allows LF without CR in a trailer"},
    {"a trailer line begins with whitespace", "h11 joins folded trailer lines"},
    {"a trailer must not contain this header", "h11 and llhttp allow any field name in a trailer"},
    {"is not allowed in the value", "h11 allows control characters in trailer values"},
    {"trailer: ", "h11 expects the rest of a malformed trailer"},
};
enum { REASONS = sizeof reasons / sizeof reasons[0] };

/* Returns the index of the first reason that applies to netlib's result; REASONS if none applies. */
static size_t reason_of(const struct result *result) {
    size_t reason = 0;
    while (reason < REASONS && (result->code != 'x' || strstr(result->message, reasons[reason].message) == NULL)) {
        reason++;
    }
    return reason;
}

/* Returns true if the message ends inside a malformed trailer line, which netlib refuses only when the line is
 * complete. */
static bool is_refused_later(const struct result *result, const struct message *message) {
    struct message complete = *message;
    add_text(&complete, "\r\n\r\n");
    return result->code == '.' && decode_all_ways(&complete).code == 'x';
}

/* Reads the next line of results that were recorded for a parser. */
static bool read_line(FILE *file, const char *parser, char codes[LINE]) {
    char line[LINE + 20];
    do {
        if (fgets(line, sizeof line, file) == NULL) return false;
    } while (line[0] == '#');
    size_t name = strlen(parser);
    if (strncmp(line, parser, name) != 0 || strlen(line) != name + 1 + LINE + 1) return false;
    memcpy(codes, line + name + 1, LINE);
    return true;
}

static void print_message(const struct message *message) {
    const char *parts[] = {message->head, message->text};
    size_t lengths[] = {strlen(message->head), message->len};
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < lengths[part]; i++) printf("%02x", (unsigned char)parts[part][i]);
        printf(part == 0 ? " " : "\n");
    }
}

static void bodies_equal_those_of_h11_and_llhttp_or_are_refused_for_a_listed_reason(void) {
    size_t equal[PARSERS] = {0}, later[PARSERS] = {0}, stricter[REASONS][PARSERS] = {0}, complete = 0;
    /* Valgrind is slow, so under Valgrind only every hundredth message is decoded. */
    size_t every = under_valgrind() ? 100 : 1;
    FILE *file = fopen("tests/vectors/parsers/bodies.txt", "rb");
    CHECK(file != NULL);
    if (file == NULL) return;
    for (size_t number = 0; number < MESSAGES; number += LINE) {
        char recorded[PARSERS][LINE];
        for (int p = 0; p < PARSERS; p++) {
            bool read = read_line(file, parsers[p], recorded[p]);
            CHECK(read);
            if (!read) return;
        }
        for (size_t i = 0; i < LINE; i += every) {
            struct message message = generate(number + i);
            struct result result = decode_all_ways(&message);
            complete += result.code != 'x' && result.code != '.';
            for (int p = 0; p < PARSERS; p++) {
                char code = recorded[p][i];
                size_t reason = reason_of(&result);
                if (code == result.code) {
                    equal[p]++;
                } else if (reason < REASONS) {
                    stricter[reason][p]++;
                } else if (code == 'x' && is_refused_later(&result, &message)) {
                    later[p]++;
                } else {
                    CHECK(!"netlib's result is equal, or stricter for a listed reason");
                    printf("message %zu: netlib %c %s, %s %c: ", number + i, result.code, result.message, parsers[p],
                           code);
                    print_message(&message);
                }
            }
        }
    }
    fclose(file);
    printf("note: %zu messages, %zu complete\n", MESSAGES / every, complete);
    for (int p = 0; p < PARSERS; p++) {
        printf("note: %s: %zu equal, %zu malformed trailer lines refused later by netlib\n", parsers[p], equal[p],
               later[p]);
    }
    for (size_t reason = 0; reason < REASONS; reason++) {
        const size_t *counts = stricter[reason];
        printf("note: refused by netlib: %s: h11 %zu, llhttp %zu\n", reasons[reason].reason, counts[H11],
               counts[LLHTTP]);
        CHECK(every > 1 || counts[H11] + counts[LLHTTP] > 0);
    }
    CHECK(complete > MESSAGES / every / 3);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        for (size_t number = 0; number < MESSAGES; number++) {
            struct message message = generate(number);
            print_message(&message);
        }
        return EXIT_SUCCESS;
    }
    bodies_equal_those_of_h11_and_llhttp_or_are_refused_for_a_listed_reason();
    return report("body_corpus");
}
