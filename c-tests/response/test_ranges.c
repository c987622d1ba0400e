/* Tests the Content-Range of responses, the validator for If-Range, and whether a response continues a download. */
#include "harness.h"

/* Parses a response to GET. `fields` are its header lines. */
static netlib_response *parse(int status, const char *fields) {
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    size_t len = 0;
    char head[500];
    snprintf(head, sizeof head, "HTTP/1.1 %d x\r\n%s\r\n", status, fields);
    CHECK_OK(netlib_response_parse("GET", head, NETLIB_NTS, NULL, &response, &len, &err));
    return response;
}

static void content_ranges_are_read_or_refused(void) {
    static const struct {
        const char *fields;
        netlib_status status;
        int64_t first, last, total;
    } rows[] = {
        {"", NETLIB_OK, -1, -1, -1},
        {"Content-Range: bytes 0-0/1\r\n", NETLIB_OK, 0, 0, 1},
        {"content-range: Bytes 500-999/1234\r\n", NETLIB_OK, 500, 999, 1234},
        {"Content-Range: bytes 500-999/*\r\n", NETLIB_OK, 500, 999, -1},
        {"Content-Range: bytes */1234\r\n", NETLIB_OK, -1, -1, 1234},
        {"Content-Range: bytes 0-9223372036854775806/9223372036854775807\r\n", NETLIB_OK, 0, INT64_MAX - 1, INT64_MAX},
        {"Content-Range: bytes 0-1/9223372036854775808\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes */*\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes 5-4/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes 5-10/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes 5-6\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes +5-6/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes -6/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes 5-/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes=5-6/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: items 5-6/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range:\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
        {"Content-Range: bytes 5-6/10\r\nContent-Range: bytes 5-6/10\r\n", NETLIB_INVALID_HEADER, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_error *err = NULL;
        netlib_response *response = parse(206, rows[i].fields);
        int64_t first = 7, last = 7, total = 7;
        netlib_status status = netlib_response_content_range(response, &first, &last, &total, &err);
        if (status != rows[i].status) printf("%s", rows[i].fields);
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(rows[i].first, first);
        CHECK_INT(rows[i].last, last);
        CHECK_INT(rows[i].total, total);
        netlib_response_free(response);
    }
}

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static void only_a_strong_validator_is_returned(void) {
    static const struct {
        const char *fields, *validator;
    } rows[] = {
        {"", NULL},
        {"ETag: \"a b\"\r\n", "\"a b\""},
        {"ETag: \"\"\r\n", "\"\""},
        {"ETag: W/\"a\"\r\n", NULL},
        {"ETag: a\r\n", NULL},
        {"ETag: \"\r\n", NULL},
        {DATE "Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT\r\n", "Sun, 06 Nov 1994 08:48:37 GMT"},
        {DATE "Last-Modified: Sun, 06 Nov 1994 08:48:38 GMT\r\n", NULL},
        {DATE "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n", NULL},
        {DATE "Last-Modified: yesterday\r\n", NULL},
        {"Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT\r\n", NULL},
        /* A weak ETag says that the representation may differ although Last-Modified is the same. */
        {DATE "ETag: W/\"a\"\r\nLast-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n", NULL},
        {DATE "ETag: \"a\"\r\nLast-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n", "\"a\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *response = parse(200, rows[i].fields);
        CHECK_STR(rows[i].validator, netlib_response_range_validator(response, NULL));
        netlib_response_free(response);
    }
}

static void a_response_continues_only_the_same_representation(void) {
    static const struct {
        const char *earlier; /* a response with the status 200 */
        int status;
        const char *fields;
        int32_t continues; /* at 5 */
    } rows[] = {
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 1},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-7/*\r\nETag: \"a\"\r\n", 1},
        {"Transfer-Encoding: chunked\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 1},
        {"ETag: \"a\"\r\n", 206, "Content-Length: 5\r\nContent-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 1},
        {"ETag: \"a\"\r\n", 206, "Content-Length: 6\r\nContent-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9/11\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9/10\r\nETag: \"b\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9/10\r\n", 0},
        {"Content-Length: 10\r\n", 206, "Content-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 4-9/10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 6-9/10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes */10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Range: bytes 5-9\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 206, "Content-Type: multipart/byteranges\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 200, "Content-Range: bytes 5-9/10\r\nETag: \"a\"\r\n", 0},
        {"Content-Length: 10\r\nETag: \"a\"\r\n", 416, "Content-Range: bytes */10\r\nETag: \"a\"\r\n", 0},
        {"Last-Modified: x\r\n", 206, "Content-Range: bytes 5-9/10\r\nLast-Modified: x\r\n", 1},
        {"Last-Modified: x\r\n", 206, "Content-Range: bytes 5-9/10\r\n", 1},
        {"Last-Modified: x\r\n", 206, "Content-Range: bytes 5-9/10\r\nLast-Modified: y\r\n", 0},
        {"", 206, "Content-Range: bytes 5-9/10\r\nLast-Modified: y\r\n", 0},
        {"", 206, "Content-Range: bytes 5-9/10\r\nContent-Length: x\r\n", 0},
        {"", 206, "Content-Range: bytes 0-9223372036854775807/*\r\nContent-Length: 5\r\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_response *earlier = parse(200, rows[i].earlier), *response = parse(rows[i].status, rows[i].fields);
        int32_t continues = netlib_response_resumes(response, earlier, 5);
        if (continues != rows[i].continues) printf("row %zu\n", i);
        CHECK_INT(rows[i].continues, continues);
        CHECK_INT(0, netlib_response_resumes(NULL, earlier, 5));
        CHECK_INT(0, netlib_response_resumes(response, NULL, 5));
        netlib_response_free(earlier);
        netlib_response_free(response);
    }
    netlib_response *part = parse(206, "Content-Range: bytes 3-4/10\r\nETag: \"a\"\r\n");
    netlib_response *next = parse(206, "Content-Range: bytes 5-9/10\r\nETag: \"a\"\r\n");
    netlib_response *other = parse(206, "Content-Range: bytes 5-9/12\r\nETag: \"a\"\r\n");
    CHECK_INT(1, netlib_response_resumes(next, part, 5));
    CHECK_INT(0, netlib_response_resumes(other, part, 5));
    netlib_response_free(part);
    netlib_response_free(next);
    netlib_response_free(other);
}

int main(void) {
    content_ranges_are_read_or_refused();
    only_a_strong_validator_is_returned();
    a_response_continues_only_the_same_representation();
    return report("ranges");
}
