/* Tests netlib_assert_header_parsing. For each test case, netlib's answer is the list of defects, with the names of
 * Python's email parser, which urllib3 uses. */
#include "vectors.h"

static const struct {
    const char *message_part, *name;
} defects[] = {
    {"is not a header", "MissingHeaderBodySeparatorDefect"},
    {"continues a header, but no header precedes it", "FirstHeaderLineIsContinuationDefect"},
    {"envelope line", "MisplacedEnvelopeHeaderDefect"},
    {"has no name", "InvalidHeaderDefect"},
    {"has no boundary", "NoBoundaryInMultipartDefect"},
    {"not allowed for a multipart body", "InvalidMultipartContentTransferEncodingDefect"},
    {"data follows the end of the headers", "Unread"},
};

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void answer(char *input, vectors_out *out) {
    enum { MOST = 64 };
    const char *names[MOST];
    size_t len = 0, count = 0;
    netlib_error *err = NULL;
    const char *block = next_text(&input, &len);
    netlib_status status = netlib_assert_header_parsing(block, len, &err);
    for (; count < netlib_error_cause_count(err) && count < MOST; count++) {
        const char *message = netlib_error_message(netlib_error_cause(err, count), NULL);
        names[count] = message;
        for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++) {
            if (strstr(message, defects[i].message_part) != NULL) names[count] = defects[i].name;
        }
    }
    qsort(names, count, sizeof names[0], by_name);
    for (size_t i = 0; i < count; i++) put(out, names[i]);
    if (status == NETLIB_OK) put(out, "ok");
    CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_HEADER_PARSING, status);
}

int main(int argc, char **argv) { return vectors_main("header_defects", answer, argc, argv); }
