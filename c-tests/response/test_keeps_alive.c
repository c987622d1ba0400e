/* Tests netlib_response_keeps_alive: whether the next request may be sent on the connection of a response. */
#include "harness.h"

/* Parses a head, decodes `body` unless it is NULL, and returns the answer of netlib_response_keeps_alive. */
static int32_t keeps_alive(const char *method, const char *head, const char *body) {
    char text[256];
    netlib_error *err = NULL;
    netlib_response *response = NULL;
    netlib_body_decoder *decoder = NULL;
    size_t head_len = 0;
    snprintf(text, sizeof text, "HTTP/1.%s\r\n\r\n", head);
    CHECK_OK(netlib_response_parse(method, text, NETLIB_NTS, NULL, &response, &head_len, &err));
    if (body != NULL) {
        CHECK_OK(netlib_body_decoder_new(response, &decoder, &err));
        netlib_status status = NETLIB_OK;
        for (size_t at = 0, len = strlen(body); status == NETLIB_OK;) {
            const uint8_t *piece = NULL;
            size_t consumed = 0, piece_len = 0;
            status = netlib_body_decoder_decode(decoder, body + at, len - at, &consumed, &piece, &piece_len, &err);
            at += consumed;
        }
        netlib_error_free(err);
    }
    int32_t answer = netlib_response_keeps_alive(response, decoder);
    netlib_body_decoder_free(decoder);
    netlib_response_free(response);
    return answer;
}

static void a_connection_is_reusable_if_the_server_keeps_it_and_the_body_is_complete(void) {
    static const struct {
        const char *method, *head, *body;
        int32_t keeps_alive;
    } rows[] = {
        /* version and Connection options */
        {"GET", "1 200 x\r\nContent-Length: 1", "a", 1},
        {"GET", "0 200 x\r\nContent-Length: 1", "a", 0},
        {"GET", "0 200 x\r\nContent-Length: 1\r\nConnection: Keep-Alive", "a", 1},
        {"GET", "1 200 x\r\nContent-Length: 1\r\nConnection: x , CLOSE", "a", 0},
        {"GET", "1 200 x\r\nContent-Length: 1\r\nConnection: x\r\nconnection: close", "a", 0},
        {"GET", "0 200 x\r\nContent-Length: 1\r\nConnection: keep-alive, close", "a", 0},
        {"GET", "1 200 x\r\nContent-Length: 1\r\nConnection: closed, ,close-x", "a", 1},
        {"GET", "1 200 x\r\nContent-Length: 1\r\nConnection: \"close\"", "a", 0},
        /* body */
        {"GET", "1 200 x\r\nContent-Length: 0", NULL, 1},
        {"GET", "1 200 x\r\nContent-Length: 1", NULL, 0},
        {"GET", "1 200 x\r\nContent-Length: 1", "", 0},
        {"GET", "1 200 x\r\nContent-Length: 1", "ab", 1},
        {"GET", "1 200 x\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n", 1},
        {"GET", "1 200 x\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n", 0},
        {"GET", "1 200 x\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\n", 0},
        {"GET", "1 200 x", "a", 0},
        {"GET", "1 200 x\r\nTransfer-Encoding: gzip", "a", 0},
        {"HEAD", "1 200 x\r\nContent-Length: 1", NULL, 1},
        {"HEAD", "1 200 x\r\nContent-Length: 1", "", 1},
        {"GET", "1 304 x\r\nContent-Length: 1", NULL, 1},
        {"GET", "1 204 x", NULL, 1},
        /* interim responses and tunnels */
        {"GET", "1 100 x", NULL, 0},
        {"GET", "1 101 x", NULL, 0},
        {"CONNECT", "1 200 x", NULL, 0},
        {"CONNECT", "1 407 x\r\nContent-Length: 0", NULL, 1},
        /* headers with which two recipients may disagree about the end of the response */
        {"GET", "1 200 x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n", 0},
        {"GET", "0 200 x\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive", "0\r\n\r\n", 0},
        {"HEAD", "1 200 x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", NULL, 0},
        {"HEAD", "1 200 x\r\nContent-Length: 5, 6", NULL, 0},
        {"GET", "1 200 x\r\nContent-Length: 5, 6", NULL, 0},
        {"GET", "1 204 x\r\nContent-Length: 5", NULL, 0},
        {"GET", "1 204 x\r\nTransfer-Encoding: chunked", NULL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t answer = keeps_alive(rows[i].method, rows[i].head, rows[i].body);
        if (answer != rows[i].keeps_alive) fprintf(stderr, "%s %s\n", rows[i].method, rows[i].head);
        CHECK_INT(rows[i].keeps_alive, answer);
    }
}

static void a_response_without_a_version_counts_as_http_1_0(void) {
    netlib_error *err = NULL;
    for (int32_t keep_alive = 0; keep_alive < 2; keep_alive++) {
        netlib_headers_options *options = netlib_headers_options_new();
        netlib_headers *headers = NULL;
        netlib_response *response = NULL;
        netlib_headers_options_set_keep_alive(options, keep_alive);
        CHECK_OK(netlib_make_headers(options, &headers, &err));
        CHECK_OK(netlib_response_new("HEAD", 200, headers, &response, &err));
        CHECK_INT(keep_alive, netlib_response_keeps_alive(response, NULL));
        netlib_response_free(response);
        netlib_headers_free(headers);
        netlib_headers_options_free(options);
    }
    CHECK_INT(0, netlib_response_keeps_alive(NULL, NULL));
}

int main(void) {
    a_connection_is_reusable_if_the_server_keeps_it_and_the_body_is_complete();
    a_response_without_a_version_counts_as_http_1_0();
    return report("keeps_alive");
}
