/* Tests the defects that netlib_assert_header_parsing and response heads find in header blocks. */
#include "harness.h"

/* Returns the line number, counted from 1, of the byte at `offset`. A line ends with CRLF, LF or CR. */
static int line_at(const char *block, int64_t offset) {
    int line = 1;
    for (int64_t i = 0; i < offset; i++) line += block[i] == '\n' || (block[i] == '\r' && block[i + 1] != '\n');
    return line;
}

static void header_defects_are_listed_with_line_and_byte_offset(void) {
    static const struct {
        const char *block;
        size_t defects;
        int64_t offset;
    } rows[] = {
        {"", 0, -1},
        {"A: b\r\nC: d\r\n e\r\n\r\n", 0, -1},
        {"A: b\r\n\r\nanything", 0, -1},
        {" first\r\nA: b\r\n\r\n", 1, 0},
        {"A: b\r\n:x\r\n\r\n", 1, 6},
        {"A: b\r\nno colon\r\nC: d\r\n\r\n", 1, 6},
        {"A: b\r\n:x\r\n:y\r\nContent-Type: multipart/mixed\r\nX y\r\n", 4, 6},
        {"A: b\r\rC: d\r\n\r\n", 1, 6},
        {"From x\r\nA: b\r\nFrom x\r\nC: d\r\n\r\n", 1, 14},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_status status = netlib_assert_header_parsing(rows[i].block, NETLIB_NTS, &err);
        CHECK_INT((long long)rows[i].defects, (long long)netlib_error_cause_count(err));
        CHECK_INT(rows[i].offset, netlib_error_offset(err));
        for (size_t n = 0; n < rows[i].defects; n++) {
            const netlib_error *cause = netlib_error_cause(err, n);
            CHECK_INT(NETLIB_HEADER_PARSING, netlib_error_status(cause));
            CHECK(netlib_error_offset(cause) >= 0);
            char place[64];
            snprintf(place, sizeof place, "line %d at byte %d: ", line_at(rows[i].block, netlib_error_offset(cause)),
                     (int)netlib_error_offset(cause));
            CHECK(strncmp(netlib_error_message(cause, NULL), place, strlen(place)) == 0);
        }
        CHECK_STATUS(rows[i].defects == 0 ? NETLIB_OK : NETLIB_HEADER_PARSING, status);
    }
}

/* In `kinds`, the letter a stands for the defect with the number 1, b for the defect with the number 2, and so on. */
static void header_defect_errors_state_kind_line_and_offset_of_unparsed_bytes(void) {
    static const struct {
        const char *block, *kinds;
        int64_t lines[5], unparsed;
    } rows[] = {
        {"no colon\r\nA: b\r\n\r\n", "a", {1}, 0},
        {"A: b\r\nno colon\r\nC: d\r\n\r\n", "a", {2}, 6},
        {" first\r\nA: b\r\n\r\n", "b", {1}, -1},
        {"From x\r\nA: b\r\nFrom x\r\nC: d\r\n\r\n", "c", {3}, -1},
        {"A: b\r\n c\r\n:x\r\n\r\n", "d", {3}, -1},
        {"Content-Type: multipart/mixed\r\n\r\n", "e", {1}, -1},
        {"Content-Type: multipart/x; boundary=a\r\nContent-Transfer-Encoding: base64\r\n\r\n", "f", {2}, -1},
        {"A: b\r\rC: d\r\n\r\n", "g", {3}, 6},
        {"A: b\r\nFrom x\r\nno colon\r\n\r\n", "a", {3}, 6},
        {"A: b\r\n:x\r\n:y\r\nContent-Type: multipart/mixed\r\nX y\r\n", "ddea", {2, 3, 4, 5}, 45},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_status status = netlib_assert_header_parsing(rows[i].block, NETLIB_NTS, &err);
        CHECK_INT(rows[i].kinds[0] - 'a' + 1, netlib_error_header_defect(err));
        CHECK_INT(rows[i].lines[0], netlib_error_header_defect_line(err));
        CHECK_INT(rows[i].unparsed, netlib_error_unparsed_offset(err));
        CHECK_INT((long long)strlen(rows[i].kinds), (long long)netlib_error_cause_count(err));
        for (size_t n = 0; n < netlib_error_cause_count(err); n++) {
            const netlib_error *cause = netlib_error_cause(err, n);
            CHECK_INT(rows[i].kinds[n] - 'a' + 1, netlib_error_header_defect(cause));
            CHECK_INT(rows[i].lines[n], netlib_error_header_defect_line(cause));
            CHECK_INT(-1, netlib_error_unparsed_offset(cause));
        }
        CHECK_STATUS(NETLIB_HEADER_PARSING, status);
    }

    /* Only the first 100 defects have a cause, but the offset of the unparsed bytes is stored in any case. */
    char many[600] = "";
    for (size_t i = 0; i < 120; i++) memcpy(many + i * 4, ":x\r\n", 4);
    memcpy(many + (size_t)120 * 4, "no colon\r\n", 11);
    netlib_error *err = NULL;
    netlib_status status = netlib_assert_header_parsing(many, NETLIB_NTS, &err);
    CHECK_INT(480, netlib_error_unparsed_offset(err));
    CHECK_INT(100, (long long)netlib_error_cause_count(err));
    CHECK_STATUS(NETLIB_HEADER_PARSING, status);

    netlib_error *other = NULL;
    CHECK_OK(netlib_error_new(NETLIB_HEADER_PARSING, "x", NULL, &other, &err));
    const netlib_error *const without[] = {other, NULL};
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(NETLIB_HEADER_DEFECT_NONE, netlib_error_header_defect(without[i]));
        CHECK_INT(0, netlib_error_header_defect_line(without[i]));
        CHECK_INT(-1, netlib_error_unparsed_offset(without[i]));
    }
    netlib_error_free(other);
}

int main(void) {
    header_defects_are_listed_with_line_and_byte_offset();
    header_defect_errors_state_kind_line_and_offset_of_unparsed_bytes();
    return report("header defects");
}
