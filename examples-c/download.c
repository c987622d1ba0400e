/* download.c - downloads one URL into a file. If the connection is lost, it continues where the download stopped:
 *
 *     cc download.c $(pkg-config --cflags --libs netlib) -o download
 *     ./download https://example.com/large.iso large.iso
 *
 * Read this file from main upwards. */
#include <inttypes.h>
#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>

/* The first `size` bytes of a representation are in the file. `response` began to send it; NULL before the first one. */
struct download {
    FILE *file;
    const char *path;
    int64_t size;
    netlib_response *response;
};

static netlib_status fail(netlib_status status, const char *message, netlib_error **err) {
    netlib_status made = netlib_error_new(status, message, NULL, err, NULL);
    return made == NETLIB_OK ? status : made;
}

/* Connects, sends the request of the present attempt, and reads the head of the response, or stores the failure. */
static void exchange(const netlib_attempts *attempts, const netlib_tls_context *tls, netlib_stream **stream,
                     netlib_response **response, netlib_error **failure) {
    netlib_request *request = NULL;
    size_t len = 0, n = 0;
    netlib_status status = netlib_attempts_request(attempts, NETLIB_REQUEST_FORM_ORIGIN, &request, failure);
    const char *head = netlib_request_to_wire(request, &len), *method = netlib_attempts_method(attempts, NULL);
    const netlib_url *url = netlib_attempts_url(attempts);
    const netlib_limit *limit = netlib_attempts_limit(attempts);
    if (status == NETLIB_OK) status = netlib_stream_connect(url, tls, NULL, limit, stream, failure);
    if (status == NETLIB_OK) status = netlib_stream_write(*stream, head, len, &n, failure);
    if (status == NETLIB_OK) status = netlib_stream_read_response(*stream, method, response, failure);
    netlib_request_free(request);
}

/* Keeps the position in the file if the response continues the download. Empties the file if the response contains the
 * whole representation (200), which has changed, or whose server ignores Range. */
static netlib_status prepare_file(struct download *download, const netlib_response *response, netlib_error **err) {
    int32_t status = netlib_response_status(response);
    if (download->response != NULL && netlib_response_resumes(response, download->response, download->size))
        return NETLIB_OK;
    if (status != 200) {
        fprintf(stderr, "the response has the status %d\n", (int)status);
        return fail(NETLIB_APPLICATION_ERROR, "the response does not contain the file", err);
    }
    netlib_response_free(download->response);
    download->response = netlib_response_clone(response);
    download->size = 0;
    download->file = freopen(download->path, "wb", download->file);
    return download->file != NULL ? NETLIB_OK : fail(NETLIB_APPLICATION_ERROR, "cannot open the file", err);
}

/* Returns the total length that a Content-Range states; -1 if there is none. */
static int64_t total_of(const netlib_response *response) {
    int64_t first = -1, last = -1, total = -1;
    netlib_status status = netlib_response_content_range(response, &first, &last, &total, NULL);
    return status == NETLIB_OK ? total : -1;
}

/* Appends the body to the file. */
static netlib_status write_body(struct download *download, netlib_stream *stream, const netlib_response *response,
                                netlib_error **err) {
    netlib_body_decoder *decoder = NULL;
    char buffer[16384];
    size_t n = 0;
    netlib_status status = netlib_body_decoder_new(response, &decoder, err);
    while (status == NETLIB_OK) {
        status = netlib_stream_read_body(stream, decoder, buffer, sizeof buffer, &n, err);
        if (fwrite(buffer, 1, n, download->file) != n) break;
        download->size += (int64_t)n;
    }
    netlib_body_decoder_free(decoder);
    if (fflush(download->file) != 0 || ferror(download->file)) {
        netlib_error_free(*err), *err = NULL;
        return fail(NETLIB_APPLICATION_ERROR, "cannot write the file", err);
    }
    if (status != NETLIB_END_OF_STREAM) return status;
    if (netlib_response_status(response) == 200 || total_of(response) == download->size) return NETLIB_OK;
    return fail(NETLIB_INCOMPLETE_READ, "the server sent a part of the file", err);
}

/* Makes the next attempts ask for the rest of the file, or for the whole file if the response has no strong validator. */
static netlib_status set_range_headers(const struct download *download, netlib_attempts *attempts, netlib_error **err) {
    const char *validator = netlib_response_range_validator(download->response, NULL);
    char range[40];
    snprintf(range, sizeof range, "bytes=%" PRId64 "-", download->size);
    netlib_status status = netlib_attempts_set_header(attempts, "range", validator != NULL ? range : NULL, err);
    if (status == NETLIB_OK) status = netlib_attempts_set_header(attempts, "if-range", validator, err);
    return status;
}

/* Makes one attempt. Returns NETLIB_SEND_AGAIN if another one follows. */
static netlib_status attempt(struct download *download, netlib_attempts *attempts, const netlib_tls_context *tls,
                             netlib_error **err) {
    netlib_stream *stream = NULL;
    netlib_response *response = NULL;
    netlib_error *failure = NULL;
    int64_t before = download->size;
    exchange(attempts, tls, &stream, &response, &failure);
    netlib_status status = netlib_attempts_next(attempts, response, failure, err); /* waits before a retry */
    /* With the status 416, the server has nothing more to send. */
    bool is_complete = netlib_response_status(response) == 416 && before > 0 && total_of(response) == before;
    if (status == NETLIB_OK && !is_complete) status = prepare_file(download, response, err);
    if (status == NETLIB_OK && !is_complete) {
        status = write_body(download, stream, response, &failure);
        if (download->size > before) netlib_attempts_reset_failures(attempts);
        if (failure != NULL) {
            status = set_range_headers(download, attempts, err);
            if (status == NETLIB_OK) status = netlib_attempts_next(attempts, response, failure, err);
        }
    }
    netlib_error_free(failure), netlib_response_free(response), netlib_stream_free(stream);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s URL FILE\n", argv[0]) < 0 ? 1 : 2;
    const netlib_header_field fields[] = {{"connection", "close"}, {"accept-encoding", "identity"}};
    struct download download = {fopen(argv[2], "wb"), argv[2], 0, NULL};
    netlib_tls_context *tls = NULL;
    netlib_headers *headers = NULL;
    netlib_url *url = NULL;
    netlib_attempts *attempts = NULL;
    netlib_error *err = NULL;
    if (download.file == NULL) return perror(argv[2]), 1;

    netlib_status status = netlib_set_default_timeout(20.0, &err); /* to connect, and between two reads */
    if (status == NETLIB_OK) status = netlib_tls_context_new(NULL, &tls, &err);
    if (status == NETLIB_OK) status = netlib_headers_new(fields, 2, &headers, &err);
    if (status == NETLIB_OK) status = netlib_parse_url_strict(argv[1], NETLIB_NTS, &url, &err);
    if (status == NETLIB_OK)
        status = netlib_attempts_new(netlib_retry_recommended(), "GET", url, headers, 0, NULL, &attempts, &err);
    if (status == NETLIB_OK) {
        do status = attempt(&download, attempts, tls, &err);
        while (status == NETLIB_SEND_AGAIN);
    }
    if (err != NULL) fprintf(stderr, "%s\n", netlib_error_report(err, NULL));
    if (download.file != NULL && fclose(download.file) != 0 && status == NETLIB_OK) return perror(argv[2]), 1;
    netlib_error_free(err), netlib_attempts_free(attempts), netlib_url_free(url), netlib_headers_free(headers);
    netlib_tls_context_free(tls), netlib_response_free(download.response);
    return status != NETLIB_OK;
}
