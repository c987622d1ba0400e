/* libcurl.c - the client of the table `servers` that uses libcurl. */
#include "client.h"

#include <curl/curl.h>

struct client {
    CURL *easy;
    size_t received;
};

static size_t on_data(char *data, size_t size, size_t count, void *ctx) {
    (void)data;
    ((struct client *)ctx)->received += size * count;
    return size * count;
}

static void send_request(void *ctx, const char *url) {
    struct client *client = ctx;
    long status = 0;
    client->received = 0;
    curl_easy_setopt(client->easy, CURLOPT_URL, url);
    CURLcode result = curl_easy_perform(client->easy);
    if (result != CURLE_OK) fail(url, curl_easy_strerror(result));
    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || client->received != BODY_SIZE) fail(url, "not the expected response");
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    struct client client = {.easy = curl_easy_init()};
    if (client.easy == NULL) fail("curl_easy_init", "failed");
    curl_easy_setopt(client.easy, CURLOPT_CAINFO, CA);
    curl_easy_setopt(client.easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(client.easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(client.easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT);
    curl_easy_setopt(client.easy, CURLOPT_TIMEOUT, (long)TIMEOUT);
    curl_easy_setopt(client.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(client.easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(client.easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(client.easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(client.easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(client.easy, CURLOPT_WRITEDATA, &client);
    run(send_request, &client);
    curl_easy_cleanup(client.easy);
    curl_global_cleanup();
    return 0;
}
