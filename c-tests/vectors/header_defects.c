/* Tests netlib_assert_header_parsing. For each test case, netlib's answer is the list of defects, with the names of
 * Python's email parser, which urllib3 uses. */
#include "vectors.h"

/* The name of each defect in Python's email parser. */
static const char *const names_of[] = {
    [NETLIB_HEADER_DEFECT_NOT_A_HEADER] = "MissingHeaderBodySeparatorDefect",
    [NETLIB_HEADER_DEFECT_CONTINUATION_FIRST] = "FirstHeaderLineIsContinuationDefect",
    [NETLIB_HEADER_DEFECT_MISPLACED_ENVELOPE] = "MisplacedEnvelopeHeaderDefect",
    [NETLIB_HEADER_DEFECT_NO_NAME] = "InvalidHeaderDefect",
    [NETLIB_HEADER_DEFECT_NO_BOUNDARY] = "NoBoundaryInMultipartDefect",
    [NETLIB_HEADER_DEFECT_MULTIPART_ENCODING] = "InvalidMultipartContentTransferEncodingDefect",
    [NETLIB_HEADER_DEFECT_UNREAD_DATA] = "Unread",
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
        names[count] = names_of[netlib_error_header_defect(netlib_error_cause(err, count))];
    }
    qsort(names, count, sizeof names[0], by_name);
    for (size_t i = 0; i < count; i++) put(out, names[i]);
    if (status == NETLIB_OK) put(out, "ok");
    CHECK_STATUS(status == NETLIB_OK ? NETLIB_OK : NETLIB_HEADER_PARSING, status);
}

int main(int argc, char **argv) { return vectors_main("header_defects", answer, argc, argv); }
