/* Implements request.h. */
#define _POSIX_C_SOURCE 200809L

#include "request.h"

#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the parts of the request ------------------------------------------------------------------------------------- */

/* Creates a retry policy with the recommended settings and the number of retries from the command line. */
static netlib_status make_retry(int32_t retries, netlib_retry **retry, netlib_error **err) {
    netlib_retry_options *options = netlib_retry_options_new_recommended();
    netlib_retry_options_set_total(options, retries);
    netlib_retry_options_set_raise_on_status(options, 0); /* the last response is delivered with any status */
    netlib_status status = netlib_retry_new(options, retry, err);
    netlib_retry_options_free(options);
    return status;
}

/* Adds the pairs of --query to the URL's query. */
static netlib_status add_pairs(const struct options *options, netlib_url **url, netlib_error **err) {
    if (options->pair_count == 0) return NETLIB_OK;
    netlib_query *query = NULL;
    netlib_url_options *components = netlib_url_to_options(*url);
    netlib_status status =
        netlib_query_parse(netlib_url_query(*url, NULL), NETLIB_NTS, NETLIB_QUERY_FORMAT_FORM, &query, err);
    for (size_t i = 0; i < options->pair_count && status == NETLIB_OK; i++) {
        const char *name = options->pairs[i], *equals = strchr(name, '=');
        size_t name_len = equals != NULL ? (size_t)(equals - name) : strlen(name);
        status = netlib_query_append(query, name, name_len, equals != NULL ? equals + 1 : NULL, NETLIB_NTS, err);
    }
    const char *text = netlib_query_to_string(query, NULL);
    if (status == NETLIB_OK && text == NULL) status = fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the query");
    netlib_url_options_set_query(components, text);
    netlib_url *changed = NULL;
    if (status == NETLIB_OK) status = netlib_url_from_options(components, &changed, err);
    if (status == NETLIB_OK) {
        netlib_url_free(*url);
        *url = changed;
    }
    netlib_url_options_free(components);
    netlib_query_free(query);
    return status;
}

static netlib_status make_url(const char *text, netlib_url **url, netlib_error **err) {
    netlib_status status = netlib_parse_url(text, NETLIB_NTS, url, err);
    if (status != NETLIB_OK) return status;
    const char *scheme = netlib_url_scheme(*url, NULL);
    bool is_http = scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (!is_http || netlib_url_host(*url, NULL) == NULL) {
        return fail(NETLIB_INVALID_URL, err, "an http:// or https:// URL with a host is required");
    }
    if (netlib_url_auth(*url, NULL) != NULL) {
        return fail(NETLIB_INVALID_URL, err, "user names in URLs are not supported: use --user");
    }
    return NETLIB_OK;
}

/* Creates the request's body, and stores the body's start position, so that each attempt can rewind the body. */
static netlib_status make_body(struct request *request, const char *data, netlib_error **err) {
    if (data == NULL) return NETLIB_OK;
    netlib_status status;
    if (data[0] == '@') {
        request->body_fd = open(data + 1, O_RDONLY | O_CLOEXEC);
        if (request->body_fd < 0) return fail(NETLIB_IO, err, "cannot open %s: %s", data + 1, strerror(errno));
        status = netlib_body_from_fd(request->body_fd, &request->body, err);
    } else {
        status = netlib_body_from_memory(data, strlen(data), &request->body, err);
    }
    if (status == NETLIB_OK) status = netlib_body_length(request->body, &request->body_length, err);
    if (status != NETLIB_OK) return status;
    return netlib_set_file_position(request->body, NETLIB_POSITION_NONE, &request->body_start, err);
}

/* Returns true for methods whose requests have Content-Length: 0 if they have no body. */
static bool expects_body(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

/* Creates the headers of the command line, followed by the headers that fetch sets itself. If a redirect drops the
 * body, the retry policy drops the headers that describe the body. */
static netlib_status make_headers(struct request *request, const struct options *options, netlib_error **err) {
    netlib_headers_options *headers = options->headers;
    char length[32];
    snprintf(length, sizeof length, "%lld", (long long)request->body_length);
    if (!options->has_user_agent) netlib_headers_options_set_user_agent(headers, "fetch/" NETLIB_VERSION);
    if (request->body != NULL && !options->has_content_type) {
        netlib_headers_options_add_header(headers, "content-type", "application/x-www-form-urlencoded");
    }
    if (request->body_length < 0) {
        netlib_headers_options_add_header(headers, "Transfer-Encoding", "chunked");
    } else if (request->body != NULL || expects_body(request->method)) {
        netlib_headers_options_add_header(headers, "Content-Length", length);
    }
    netlib_headers_options_add_header(headers, "Connection", "close");
    return netlib_make_headers(headers, &request->headers, err);
}

static netlib_status set_method(struct request *request, const char *method, netlib_error **err) {
    char *copy = strdup(method);
    if (copy == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for the method");
    free(request->method);
    request->method = copy;
    return NETLIB_OK;
}

netlib_status request_init(struct request *request, const struct options *options, netlib_error **err) {
    *request = (struct request){.body_fd = -1};
    const char *method = options->method != NULL ? options->method : options->data != NULL ? "POST" : "GET";
    netlib_status status = make_url(options->url, &request->url, err);
    if (status == NETLIB_OK) status = add_pairs(options, &request->url, err);
    if (status == NETLIB_OK) status = set_method(request, method, err);
    if (status == NETLIB_OK) status = make_retry(options->retries, &request->retry, err);
    if (status == NETLIB_OK) status = make_body(request, options->data, err);
    if (status == NETLIB_OK) status = make_headers(request, options, err);
    return status;
}

static void drop_body(struct request *request) {
    netlib_body_free(request->body);
    request->body = NULL;
    if (request->body_fd >= 0) close(request->body_fd);
    request->body_fd = -1;
}

void request_free(struct request *request) {
    drop_body(request);
    netlib_headers_free(request->headers);
    netlib_retry_free(request->retry);
    netlib_url_free(request->url);
    free(request->method);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

/* The maximum number of bytes that are read from the body at once. */
enum { PIECE_SIZE = 16 * 1024 };

/* Sends exactly `body_length` bytes of the body, even if the file has grown: the server would take further bytes for
 * another request. */
static netlib_status send_known_body(const struct request *request, netlib_stream *stream, netlib_error **err) {
    char piece[PIECE_SIZE];
    int64_t left = request->body_length;
    while (left > 0) {
        size_t n = left < PIECE_SIZE ? (size_t)left : PIECE_SIZE;
        netlib_status status = netlib_body_read(request->body, piece, n, &n, err);
        if (status == NETLIB_END_OF_STREAM) {
            return fail(NETLIB_IO, err, "the request body ended %lld bytes early", (long long)left);
        }
        left -= (int64_t)n;
        if (status == NETLIB_OK) status = netlib_stream_write(stream, piece, n, &n, err);
        if (status != NETLIB_OK) return status;
    }
    return NETLIB_OK;
}

static netlib_status send_chunked_body(const struct request *request, netlib_stream *stream, netlib_error **err) {
    char buffer[NETLIB_CHUNK_PREFIX_SIZE + PIECE_SIZE + NETLIB_CHUNK_SUFFIX_SIZE];
    for (;;) {
        const uint8_t *chunk = NULL;
        size_t n = 0, len = 0;
        netlib_status status = netlib_body_read(request->body, buffer + NETLIB_CHUNK_PREFIX_SIZE, PIECE_SIZE, &n, err);
        if (status == NETLIB_END_OF_STREAM) break;
        if (status == NETLIB_OK) status = netlib_chunk_encode(buffer, sizeof buffer, n, &chunk, &len, err);
        if (status == NETLIB_OK) status = netlib_stream_write(stream, chunk, len, &n, err);
        if (status != NETLIB_OK) return status;
    }
    size_t len = 0, n = 0;
    netlib_status status = netlib_chunk_encode_last(NULL, buffer, sizeof buffer, &len, err);
    return status == NETLIB_OK ? netlib_stream_write(stream, buffer, len, &n, err) : status;
}

netlib_status request_send(struct request *request, const netlib_request *head, netlib_stream *stream,
                           netlib_error **err) {
    size_t len = 0, n = 0;
    const char *bytes = netlib_request_to_wire(head, &len);
    request->body_used = true;
    netlib_status status = netlib_stream_write(stream, bytes, len, &n, err);
    if (status != NETLIB_OK || request->body == NULL) return status;
    if (request->body_length < 0) return send_chunked_body(request, stream, err);
    return send_known_body(request, stream, err);
}

/* --- the next attempt --------------------------------------------------------------------------------------------- */

netlib_status request_follow(struct request *request, const netlib_decision *decision, netlib_error **err) {
    netlib_headers *headers = NULL;
    netlib_status status = netlib_decision_headers(decision, request->headers, &headers, err);
    if (status != NETLIB_OK) return status;
    netlib_headers_free(request->headers);
    request->headers = headers;

    netlib_retry_free(request->retry);
    request->retry = netlib_retry_clone(netlib_decision_retry(decision));
    netlib_url_free(request->url);
    request->url = netlib_url_clone(netlib_decision_url(decision));

    if (!netlib_decision_resend_body(decision)) drop_body(request);
    if (request->body != NULL && request->body_used) {
        status = netlib_rewind_body(request->body, request->body_start, err);
    }
    return status == NETLIB_OK ? set_method(request, netlib_decision_method(decision, NULL), err) : status;
}
