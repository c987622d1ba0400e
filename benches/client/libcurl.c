/*
 * libcurl.c - the client of the table `client` that uses libcurl's multi interface with epoll.
 *
 * Each easy handle sends one request after the other. An easy handle keeps its TLS sessions between requests; the multi
 * handle keeps the open connections and the trusted certificates.
 */
#include "client.h"

#include <curl/curl.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

struct loop {
    CURLM *multi;
    int epoll;
    long timeout; /* of epoll_wait, in milliseconds */
    size_t started, done;
};

struct transfer {
    CURL *easy;
    size_t received;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "libcurl: %s: %s\n", what, why);
    exit(1);
}

static int on_timer(CURLM *multi, long timeout, void *ctx) {
    (void)multi;
    ((struct loop *)ctx)->timeout = timeout;
    return 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *watched) {
    (void)easy;
    struct loop *loop = ctx;
    struct epoll_event event = {.data = {.fd = fd}};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE) return epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL), 0;
    if (epoll_ctl(loop->epoll, watched != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) {
        fail("epoll_ctl", strerror(errno));
    }
    return curl_multi_assign(loop->multi, fd, loop) == CURLM_OK ? 0 : -1; /* from now on, `watched` is not NULL */
}

static size_t on_data(char *data, size_t size, size_t count, void *ctx) {
    (void)data;
    ((struct transfer *)ctx)->received += size * count;
    return size * count;
}

static void start(struct loop *loop, struct transfer *transfer) {
    transfer->received = 0;
    loop->started++;
    if (curl_multi_add_handle(loop->multi, transfer->easy) != CURLM_OK) fail("curl_multi_add_handle", "failed");
}

static void make(struct transfer *transfer, const struct settings *settings, struct curl_slist *headers) {
    CURL *easy = transfer->easy = curl_easy_init();
    if (easy == NULL) fail("curl_easy_init", "failed");
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_URL, settings->url);
    curl_easy_setopt(easy, CURLOPT_CAINFO, settings->ca);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)TIMEOUT);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, settings->keep_alive ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, settings->resume ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
}

/* Checks the finished transfers, and starts others with their handles. */
static void finish(struct loop *loop, const struct settings *settings) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(loop->multi, &left)) != NULL) {
        struct transfer *transfer = NULL;
        long status = 0;
        if (message->data.result != CURLE_OK) fail("transfer", curl_easy_strerror(message->data.result));
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200 || transfer->received != BODY_SIZE) fail("transfer", "not the expected response");
        curl_multi_remove_handle(loop->multi, transfer->easy);
        loop->done++;
        if (loop->started < settings->requests) start(loop, transfer);
    }
}

static void run(struct loop *loop, const struct settings *settings) {
    struct epoll_event events[MAX_PARALLEL];
    int running = 0;
    while (loop->done < settings->requests) {
        int ready = epoll_wait(loop->epoll, events, MAX_PARALLEL, (int)loop->timeout);
        if (ready < 0 && errno != EINTR) fail("epoll_wait", strerror(errno));
        if (ready == 0) curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        for (int i = 0; i < ready; i++) {
            int mask = 0;
            if (events[i].events & EPOLLIN) mask |= CURL_CSELECT_IN;
            if (events[i].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
            if (events[i].events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
            curl_multi_socket_action(loop->multi, events[i].data.fd, mask, &running);
        }
        finish(loop, settings);
    }
}

int main(int argc, char **argv) {
    struct settings settings = begin(argc, argv);
    struct loop loop = {.timeout = -1};
    struct transfer transfers[MAX_PARALLEL];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    loop.multi = curl_multi_init();
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop.multi == NULL || loop.epoll < 0) fail("start", "out of memory or descriptors");
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETDATA, &loop);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERDATA, &loop);
    struct curl_slist *headers = settings.keep_alive ? NULL : curl_slist_append(NULL, "Connection: close");
    for (size_t i = 0; i < settings.parallel; i++) {
        make(&transfers[i], &settings, headers);
        start(&loop, &transfers[i]);
    }
    run(&loop, &settings);
    for (size_t i = 0; i < settings.parallel; i++) curl_easy_cleanup(transfers[i].easy);
    curl_slist_free_all(headers);
    curl_multi_cleanup(loop.multi);
    curl_global_cleanup();
    close(loop.epoll);
    return end(&settings, curl_version());
}
