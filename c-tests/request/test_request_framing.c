/*
 * Compares the Transfer-Encoding of requests that netlib makes with the results of h11, llhttp and Go's net/http, which
 * tests/vectors/request_framing.py recorded. netlib may refuse values that the recipients accept. For each value that
 * netlib accepts, llhttp must read chunks. h11 and Go support no other coding than chunked: if the value is chunked
 * alone, they must read chunks, and otherwise they must refuse the request.
 */
#define _POSIX_C_SOURCE 200809L
#include "vectors/vectors.h"
#include <strings.h>

/* Returns whether the value consists of the coding chunked, with or without spaces around it. */
static bool is_chunked_alone(const char *value) {
    value += strspn(value, " ");
    return strncasecmp(value, "chunked", 7) == 0 && value[7 + strspn(value + 7, " ")] == '\0';
}

static netlib_status make_request(const netlib_url *url, const char *value) {
    netlib_error *err = NULL;
    netlib_headers *headers = NULL;
    netlib_request *request = NULL;
    const netlib_header_field fields[] = {{"Transfer-Encoding", value}};
    netlib_status status = netlib_headers_new(fields, 1, &headers, &err);
    if (status == NETLIB_OK)
        status = netlib_request_new("POST", url, headers, NETLIB_REQUEST_FORM_ORIGIN, &request, &err);
    netlib_error_free(err), netlib_request_free(request), netlib_headers_free(headers);
    return status;
}

static void recipients_read_the_transfer_encoding_of_an_accepted_request_alike(void) {
    static const char *const recipients[] = {"h11", "llhttp", "go"};
    size_t accepted = 0, stricter = 0;
    netlib_url *url = NULL;
    netlib_error *err = NULL;
    vectors_file file = read_vectors("tests/vectors", "parsers", "request_framing");
    CHECK_OK(netlib_parse_url("http://h/", NETLIB_NTS, &url, &err));
    for (size_t i = 0; i < file.count; i++) {
        char *input = file.cases[i].input, *answers = file.cases[i].answer;
        size_t len = 0;
        const char *value = next_text(&input, &len);
        if (strlen(value) != len) continue; /* a C string cannot contain the NUL */
        netlib_status status = make_request(url, value);
        if (status != NETLIB_OK) CHECK_INT(NETLIB_INVALID_HEADER, status);
        accepted += status == NETLIB_OK;
        for (int recipient = 0; recipient < 3; recipient++) {
            const char *answer = next_line(&answers);
            bool reads_chunks = recipient == 1 || is_chunked_alone(value);
            bool is_expected = strcmp(answer, reads_chunks ? "chunked" : "refused") == 0;
            if (status == NETLIB_OK && !is_expected) printf("\"%s\": %s: %s\n", value, recipients[recipient], answer);
            CHECK(status != NETLIB_OK || is_expected);
            stricter += status != NETLIB_OK && strcmp(answer, "chunked") == 0;
        }
    }
    printf("%zu accepted; %zu results of recipients that read chunks where netlib refuses\n", accepted, stricter);
    CHECK_INT(30, (long)accepted);
    CHECK_INT(227, (long)stricter);
    netlib_url_free(url);
    free_vectors(&file);
}

int main(void) {
    recipients_read_the_transfer_encoding_of_an_accepted_request_alike();
    return report("request_framing");
}
