/* The store of examples-c/store_redis with a server that sends wrong replies. */
#define _GNU_SOURCE
#include "harness.h"
#include "store_redis/redis_store.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SHA_1 "$40\r\n0123456789012345678901234567890123456789\r\n"
#define SECONDS "$10\r\n1700000000\r\n"
#define MICROSECONDS "$3\r\n500\r\n"

/* How a reply is sent: at once, in bytes with pauses, or as fast as the client reads. */
enum manner { TEXT, DRIP, FLOOD };

/* A server that answers the first command of a connection with `to_load`, and each other command with `to_eval`. */
struct server {
    int listener;
    const char *to_load, *to_eval;
    enum manner manner;
    size_t sent; /* with DRIP and FLOOD */
};

/* Sends a string of 1 GB, until the client closes the connection. */
static void send_string(struct server *server, int fd) {
    static const char announced[] = "$1000000000\r\n";
    static char zeros[1 << 16];
    struct pollfd closed = {.fd = fd, .events = POLLRDHUP};
    ssize_t sent = send(fd, announced, sizeof announced - 1, MSG_NOSIGNAL);
    while (sent > 0 && (server->manner == FLOOD || poll(&closed, 1, 5) == 0)) {
        sent = send(fd, zeros, server->manner == FLOOD ? sizeof zeros : 1, MSG_NOSIGNAL);
        if (sent > 0) server->sent += (size_t)sent;
    }
}

/* Reads an array of strings. Returns false at the end of the connection. */
static bool read_command(FILE *in) {
    char line[32];
    if (fgets(line, sizeof line, in) == NULL) return false;
    for (int count = atoi(line + 1); count > 0; count--) {
        if (fgets(line, sizeof line, in) == NULL) return false;
        for (int left = atoi(line + 1) + 2; left > 0; left--)
            if (fgetc(in) == EOF) return false;
    }
    return true;
}

/* Serves one connection. */
static void *serve(void *ctx) {
    struct server *server = ctx;
    int fd = accept(server->listener, NULL, NULL);
    FILE *in = fdopen(fd, "r");
    if (in == NULL) abort();
    const char *reply = server->to_load;
    while (read_command(in)) {
        if (reply == server->to_eval && server->manner != TEXT) {
            send_string(server, fd);
            break;
        }
        if (send(fd, reply, strlen(reply), MSG_NOSIGNAL) != (ssize_t)strlen(reply)) break;
        reply = server->to_eval;
    }
    fclose(in);
    return NULL;
}

/* Takes a permission from a rate whose store is the server. */
static netlib_status take_from(const char *address, double timeout) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_rate *rate = NULL;
    double wait = 0;
    CHECK_OK(redis_store_new(address, "test:", timeout, &store, &err));
    netlib_rate_options *options = netlib_rate_options_new();
    netlib_rate_options_set_limit(options, 1.0, 5.0);
    netlib_rate_options_set_store(options, store, NETLIB_UNAVAILABLE_CLOSED);
    CHECK_OK(netlib_rate_new(options, &rate, &err));
    netlib_rate_options_free(options);
    netlib_store_free(store);
    netlib_status status = netlib_rate_take(rate, "k", 1, 1.0, &wait, NULL);
    netlib_rate_free(rate);
    return status;
}

static netlib_status take_from_server(struct server *server, const char *address, double timeout) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, server) != 0) abort();
    netlib_status status = take_from(address, timeout);
    pthread_join(thread, NULL);
    return status;
}

static void a_reply_that_never_ends_makes_the_store_unavailable_in_time(struct server *server, const char *address) {
    server->to_load = SHA_1;
    for (server->manner = DRIP; server->manner <= FLOOD; server->manner++) {
        server->sent = 0;
        CHECK_INT(NETLIB_STORE_UNAVAILABLE, take_from_server(server, address, 0.2));
        CHECK(server->sent < 16 << 20);
    }
}

int main(void) {
    static const struct {
        const char *to_load, *to_eval;
        netlib_status status;
    } rows[] = {
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_OK},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n$11\r\n10000000000\r\n$6\r\n999999\r\n", NETLIB_OK},
        /* The result contradicts the word. */
        {SHA_1, "*4\r\n:0\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n7\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        /* The result is not an integer, or is out of range. */
        {SHA_1, "*4\r\n:2\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:-1\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n$1\r\n1\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n$-1\r\n$1\r\n0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        /* The word. */
        {SHA_1, "*4\r\n:0\r\n$19\r\n1700000005000000000\r\n" SECONDS MICROSECONDS, NETLIB_RATE_LIMITED},
        {SHA_1, "*4\r\n:0\r\n$20\r\n18446744073709551616\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:0\r\n$21\r\n100000000000000000000\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n:0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$-1\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n*0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$0\r\n\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:0\r\n$2\r\n-7\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:0\r\n$2\r\n7x\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$2\r\n 0\r\n" SECONDS MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        /* The time. */
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n:1700000000\r\n" MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n$-1\r\n" MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n$3\r\nnan\r\n" MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n$11\r\n10000000001\r\n" MICROSECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n" SECONDS "$7\r\n1000000\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n:1\r\n$1\r\n0\r\n" SECONDS "$-1\r\n", NETLIB_STORE_UNAVAILABLE},
        /* The whole reply: other lengths, other types, and bytes that are not a reply. */
        {SHA_1, "*3\r\n:1\r\n$1\r\n0\r\n" SECONDS, NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*5\r\n:1\r\n$1\r\n0\r\n" SECONDS MICROSECONDS ":1\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*0\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*1000000000\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*4\r\n*1000000000\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "*-1\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "$-1\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "$4\r\nword\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "+OK\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, ":1\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "-ERR unknown command\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "-NOSCRIPT No matching script\r\n", NETLIB_STORE_UNAVAILABLE},
        {SHA_1, "HTTP/1.1 400 Bad Request\r\n\r\n", NETLIB_STORE_UNAVAILABLE},
        /* The reply to SCRIPT LOAD. */
        {"$-1\r\n", "", NETLIB_STORE_UNAVAILABLE},
        {"*0\r\n", "", NETLIB_STORE_UNAVAILABLE},
        {":1\r\n", "", NETLIB_STORE_UNAVAILABLE},
        {"$3\r\nabc\r\n", "", NETLIB_STORE_UNAVAILABLE},
        {"-NOAUTH Authentication required.\r\n", "", NETLIB_STORE_UNAVAILABLE},
    };
    alarm(60);
    signal(SIGPIPE, SIG_IGN);
    char directory[] = "/tmp/netlib-replies-XXXXXX";
    if (mkdtemp(directory) == NULL) abort();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", directory);
    struct server server = {.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK_INT(0, bind(server.listener, (struct sockaddr *)&address, sizeof address));
    CHECK_INT(0, listen(server.listener, 1));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        server.to_load = rows[i].to_load, server.to_eval = rows[i].to_eval;
        netlib_status status = take_from_server(&server, address.sun_path, 5.0);
        if (status != rows[i].status) printf("%s %s\n", rows[i].to_load, rows[i].to_eval);
        CHECK_INT(rows[i].status, status);
    }
    a_reply_that_never_ends_makes_the_store_unavailable_in_time(&server, address.sun_path);
    close(server.listener);
    CHECK_INT(0, unlink(address.sun_path));
    CHECK_INT(0, rmdir(directory));
    return report("redis replies");
}
