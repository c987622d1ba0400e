/* Tests Unix domain sockets: paths and abstract names, failures, options, the address policy, and TLS. */
#define _GNU_SOURCE
#include "tls_peer.h"
#undef LONG
#include "unix_peer.h"

#include <netinet/tcp.h>
#include <sys/wait.h>

/* ---- names ---- */

static void connections_to_unix_paths_and_abstract_names_succeed(void) {
    char longest[108], longest_abstract[108];
    longest_path(longest);
    memset(longest_abstract, 'n', sizeof longest_abstract);
    snprintf(longest_abstract + 1, 20, "netlib-%d", (int)getpid());
    longest_abstract[0] = 0;
    char plain[108], bytes[108];
    snprintf(plain, sizeof plain, "%s/plain", directory);
    snprintf(bytes, sizeof bytes, "%s/\xff\xfe \n\"\\", directory);
    char abstract[40], with_nul[40];
    memset(abstract, 0, sizeof abstract);
    snprintf(abstract + 1, sizeof abstract - 1, "netlib %d", (int)getpid());
    memcpy(with_nul, abstract, sizeof abstract);
    const struct {
        const char *name;
        size_t len;
        bool terminated;
    } rows[] = {
        {plain, strlen(plain), true},
        {bytes, strlen(bytes), true},
        {longest, strlen(longest), true},
        {abstract, 1 + strlen(abstract + 1), false},
        /* The length is part of an abstract name, so the shorter name is a different name. */
        {with_nul, 2 + strlen(abstract + 1), false},
        {longest_abstract, sizeof longest_abstract, false},
    };
    netlib_limit *lasting = limit_of(LONG);
    for (size_t i = 0; i < COUNT(rows); i++) {
        int before = open_descriptors();
        int server = unix_listener(rows[i].name, rows[i].len);
        for (int way = 0; way < 6; way++) {
            netlib_error *err = NULL;
            int fd = -1, steps = 0;
            const netlib_limit *limit = way & 1 ? lasting : NULL;
            size_t len = rows[i].terminated && way < 2 ? NETLIB_NTS : rows[i].len;
            if (way < 2) {
                CHECK_OK(netlib_create_unix_connection(rows[i].name, len, NULL, limit, &fd, &err));
            } else if (way < 4) {
                netlib_connect *connect = connect_to(rows[i].name, len, NULL);
                CHECK_OK(netlib_connect_set_limit(connect, limit, &err));
                CHECK_OK(step_to_the_end(connect, &fd, &err, &steps));
                /* The socket connects immediately, so the connect has no descriptors to wait for. */
                CHECK_INT(1, steps);
                CHECK_INT(-1, netlib_connect_attempt_port(connect, 0));
                netlib_connect_free(connect);
            } else {
                struct sockaddr_un address;
                socklen_t size = address_of(rows[i].name, rows[i].len, &address);
                netlib_addresses *list = netlib_addresses_new();
                CHECK_OK(netlib_addresses_add(list, &address, size, &err));
                netlib_connect *connect = NULL;
                CHECK_OK(netlib_connect_new_addresses("name.test", 80, list, NULL, &connect, &err));
                netlib_addresses_free(list);
                CHECK_OK(netlib_connect_run(connect, limit, &fd, &err));
                netlib_connect_free(connect);
            }
            check_connected(fd, server);
            close(fd);
        }
        close(server);
        /* In row 0, the limit opens its descriptor, which stays open. The other rows must not leave any descriptor
         * open. */
        if (i > 0) CHECK_INT(before, open_descriptors());
    }
    netlib_limit_free(lasting);
}

static void invalid_unix_paths_and_abstract_names_are_refused(void) {
    static char zeros[108], long_path[4096], long_abstract[109];
    memset(long_path, 'a', sizeof long_path);
    memset(long_abstract + 1, 'a', sizeof long_abstract - 1);
    static const char of[] = "of a Unix domain socket";
    const struct {
        const char *name;
        size_t len;
        netlib_status status;
        const char *message;
        int64_t offset;
    } rows[] = {
        {"", 0, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {"", NETLIB_NTS, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {NULL, 0, NETLIB_INVALID_ARGUMENT, "the path %s is empty", -1},
        {NULL, 5, NETLIB_NULL_ARGUMENT, "path must not be NULL", -1},
        {NULL, NETLIB_NTS, NETLIB_NULL_ARGUMENT, "path must not be NULL", -1},
        {"", 1, NETLIB_INVALID_ARGUMENT, "the address %s has only NUL bytes", -1},
        {zeros, sizeof zeros, NETLIB_INVALID_ARGUMENT, "the address %s has only NUL bytes", -1},
        {"/a\0b", 4, NETLIB_INVALID_ARGUMENT, "the path %s has a NUL at byte 2", 2},
        {"/a", 3, NETLIB_INVALID_ARGUMENT, "the path %s has a NUL at byte 2", 2},
        {long_path, 108, NETLIB_INVALID_ARGUMENT, "the path %s has 108 bytes; at most 107 fit", -1},
        {long_path, sizeof long_path, NETLIB_INVALID_ARGUMENT, "the path %s has 4096 bytes; at most 107 fit", -1},
        {long_abstract, sizeof long_abstract, NETLIB_INVALID_ARGUMENT,
         "the abstract name %s has 109 bytes, including the leading NUL; at most 108 fit", -1},
        {"/a", NETLIB_NTS - 1, NETLIB_INVALID_ARGUMENT, "len is larger than any object: 18446744073709551614", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char message[128];
        snprintf(message, sizeof message, rows[i].message, of);
        for (int way = 0; way < 2; way++) {
            netlib_error *err = NULL;
            netlib_connect *connect = NULL;
            int fd = 17;
            netlib_status status =
                way ? netlib_connect_new_unix(rows[i].name, rows[i].len, NULL, &connect, &err)
                    : netlib_create_unix_connection(rows[i].name, rows[i].len, NULL, NULL, &fd, &err);
            CHECK_INT(way ? 17 : -1, fd);
            CHECK(connect == NULL);
            CHECK_STR(message, netlib_error_message(err, NULL));
            CHECK_INT(rows[i].offset, netlib_error_offset(err));
            CHECK_STATUS(rows[i].status, status);
        }
    }
}

static void address_lists_accept_unix_addresses(void) {
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    struct sockaddr_un un;
    struct sockaddr_storage storage;
    netlib_addresses *list = netlib_addresses_new();
    memset(&storage, 0, sizeof storage);
    const struct {
        const char *name;
        size_t name_len, len;
        netlib_status expected;
    } rows[] = {
        {"/s", 2, head + 3, NETLIB_OK},
        {"/s", 2, head + 2, NETLIB_OK},
        {"/s", 2, sizeof un, NETLIB_OK},
        {"/s", 2, sizeof storage, NETLIB_OK},
        {"\0s", 2, head + 2, NETLIB_OK},
        {"\0s", 2, sizeof un, NETLIB_OK},
        {"\0s", 2, sizeof storage, NETLIB_INVALID_ARGUMENT},
        {"", 0, sizeof un, NETLIB_INVALID_ARGUMENT},
        {"", 0, head, NETLIB_INVALID_ARGUMENT},
        {"", 0, 1, NETLIB_INVALID_ARGUMENT},
        {"/s", 2, NETLIB_NTS, NETLIB_INVALID_ARGUMENT},
    };
    size_t added = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        netlib_error *err = NULL;
        char bytes[1 + sizeof storage];
        memset(bytes, 0, sizeof bytes);
        address_of(rows[i].name, rows[i].name_len, &un);
        /* The address may have any alignment. */
        memcpy(bytes + 1, &un, sizeof un);
        CHECK_STATUS(rows[i].expected, netlib_addresses_add(list, bytes + 1, rows[i].len, &err));
        added += rows[i].expected == NETLIB_OK;
        CHECK_INT((long long)added, (long long)netlib_addresses_count(list));
    }
    netlib_addresses_free(list);
    /* An unnamed Unix address, which accept(2) returns for most clients, has the class UNIX. */
    netlib_error *err = NULL;
    int32_t classes = 0;
    un.sun_family = AF_UNIX;
    CHECK_OK(netlib_classify_address(&un, head, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_UNIX, classes);
}

/* ---- failures ---- */

static void check_failure(const char *name, size_t len, const char *printed, const char *reason, int32_t errnum) {
    char message[400], cause[400];
    snprintf(message, sizeof message, "cannot connect to %s: %s", printed, reason);
    snprintf(cause, sizeof cause, "%s: %s (after ", printed, reason);
    for (int way = 0; way < 2; way++) {
        netlib_error *err = NULL;
        netlib_connect *connect = NULL;
        int before = open_descriptors(), fd = 17, steps = 0;
        netlib_status status;
        if (way) {
            connect = connect_to(name, len, NULL);
            status = step_to_the_end(connect, &fd, &err, &steps);
            CHECK_INT(1, steps);
            CHECK_INT(1, (long long)netlib_connect_attempt_count(connect));
            CHECK_INT(NETLIB_CONNECT_FAILED, netlib_connect_attempt_status(connect, 0));
            CHECK_INT(errnum, netlib_connect_attempt_errno(connect, 0));
            CHECK_STR(printed, netlib_connect_attempt_address(connect, 0, NULL));
            CHECK_INT(-1, netlib_connect_attempt_port(connect, 0));
        } else {
            status = netlib_create_unix_connection(name, len, NULL, NULL, &fd, &err);
        }
        CHECK_INT(-1, fd);
        CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK_INT(errnum, netlib_error_errno(err));
        CHECK_INT(1, (long long)netlib_error_cause_count(err));
        const netlib_error *first = netlib_error_cause(err, 0);
        CHECK(first != NULL && strncmp(cause, netlib_error_message(first, NULL), strlen(cause)) == 0);
        CHECK_INT(NETLIB_RETRY_KIND_CONNECT, netlib_status_retry_kind(status));
        CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
        netlib_connect_free(connect);
        CHECK_INT(before, open_descriptors());
    }
}

static void unix_connect_errors_name_the_path_and_the_reason(void) {
    static const char no_listener[] = "Connection refused: no socket listens on this path, or it is not a socket";
    const char *path = in_directory("absent");
    check_failure(path, strlen(path), path, "No such file or directory", ENOENT);
    path = in_directory("file/absent");
    int file = open(in_directory("file"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    path = in_directory("file/absent");
    check_failure(path, strlen(path), path, "Not a directory", ENOTDIR);
    path = in_directory("file");
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    close(file);
    path = in_directory("idle");
    int idle = bound(path, strlen(path), SOCK_STREAM);
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    close(idle);
    /* The path of a server that has exited still exists. */
    check_failure(path, strlen(path), path, no_listener, ECONNREFUSED);
    path = in_directory("datagrams");
    int datagrams = bound(path, strlen(path), SOCK_DGRAM);
    check_failure(path, strlen(path), path, "Protocol wrong type for socket: it is not a stream socket", EPROTOTYPE);
    close(datagrams);
    check_failure("\0netlib, absent", 15, "@netlib, absent", "Connection refused: no socket listens on this name",
                  ECONNREFUSED);
    /* The message escapes unprintable bytes. */
    check_failure("/absent/\xff\n\\\xc3\xbc", 13, "/absent/\\xff\\x0a\\\\\xc3\xbc", "No such file or directory",
                  ENOENT);
    check_failure("\0a\0\x80", 4, "@a\\x00\\x80", "Connection refused: no socket listens on this name", ECONNREFUSED);
}

/* Runs in an unprivileged child process, because permissions do not apply to root. */
static void unix_connect_errors_explain_missing_permissions(void) {
    const char *path = in_directory("guarded");
    int server = unix_listener(path, strlen(path));
    CHECK(chmod(directory, 0755) == 0 && chmod(path, 0400) == 0);
    pid_t child = fork();
    if (child == 0) {
        checks_passed = checks_failed = 0;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
        check_failure(
            path, strlen(path), path,
            "Permission denied: connecting needs write permission for the socket and search permission for each "
            "directory of its path",
            EACCES);
        _exit(checks_failed > 0 || checks_passed == 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(server);
}

/* ---- options and policy ---- */

static void source_addresses_and_ip_socket_options_do_not_affect_unix_sockets(void) {
    const char *path = in_directory("options");
    int server = unix_listener(path, strlen(path));
    netlib_connect_options *options = netlib_connect_options_new();
    int one = 1, size = 20000;
    /* If any of the first four options were applied, the connect would fail. */
    netlib_connect_options_set_source_address(options, "nonexistent.invalid", 1);
    netlib_connect_options_add_socket_option(options, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, IPPROTO_IP, -1, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, IPPROTO_IPV6, -1, &one, sizeof one);
    netlib_connect_options_add_socket_option(options, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    for (int way = 0; way < 2; way++) {
        netlib_error *err = NULL;
        netlib_connect *connect = way ? connect_to(path, NETLIB_NTS, options) : NULL;
        int fd = -1;
        CHECK_OK(way ? netlib_connect_run(connect, NULL, &fd, &err)
                     : netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
        int buffer = 0;
        socklen_t len = sizeof buffer;
        CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, &len) == 0 && buffer == 2 * size);
        check_connected(fd, server);
        close(fd);
        netlib_connect_free(connect);
    }
    /* If an option cannot be set, the attempt fails. */
    netlib_connect_options_add_socket_option(options, SOL_SOCKET, -1, &one, sizeof one);
    netlib_error *err = NULL;
    int fd = -1;
    netlib_status status = netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err);
    char message[256];
    snprintf(message, sizeof message,
             "cannot connect to %s: cannot set socket option -1 of level %d: Protocol not available", path, SOL_SOCKET);
    CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_STATUS(NETLIB_CONNECT_FAILED, status);
    netlib_connect_options_free(options);
    /* If the options have an invalid value, netlib_create_unix_connection fails. */
    options = options_with_timeout(-7.0);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
    netlib_connect_options_free(options);
    close(server);
}

static void the_address_policy_applies_to_unix_addresses(void) {
    char abstract[40] = {0};
    snprintf(abstract + 1, sizeof abstract - 1, "netlib policy %d", (int)getpid());
    char path[108];
    snprintf(path, sizeof path, "%s/policy", directory);
    const struct {
        const char *name;
        size_t len;
        char printed[120];
    } *row, rows[] = {{path, strlen(path), ""}, {abstract, 1 + strlen(abstract + 1), "@"}};
    for (row = rows; row < rows + COUNT(rows); row++) {
        netlib_error *err = NULL;
        char printed[128], message[256];
        snprintf(printed, sizeof printed, "%s%s", row->printed, row->name + (row->name[0] == 0));
        struct sockaddr_un un;
        socklen_t size = address_of(row->name, row->len, &un);
        int server = unix_listener(row->name, row->len), fd = -1;
        struct address_callback callback = {.answer = NETLIB_VERDICT_ALLOW};
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_set_address_callback(options, record_address, &callback, NULL);
        netlib_connect_options_refuse_addresses(options,
                                                NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL & ~NETLIB_ADDRESS_CLASS_UNIX);
        for (int way = 0; way < 2; way++) {
            netlib_connect *connect = way ? connect_to(row->name, row->len, options) : NULL;
            callback = (struct address_callback){.answer = NETLIB_VERDICT_ALLOW};
            CHECK_OK(way ? netlib_connect_run(connect, NULL, &fd, &err)
                         : netlib_create_unix_connection(row->name, row->len, options, NULL, &fd, &err));
            CHECK_INT(1, callback.calls);
            CHECK_INT(NETLIB_ADDRESS_CLASS_UNIX, callback.classes);
            CHECK_INT((long long)size, (long long)callback.len);
            CHECK(memcmp(&un, callback.bytes, size) == 0);
            check_connected(fd, server);
            close(fd);
            netlib_connect_free(connect);
        }
        /* First the callback refuses the address. Then the policy refuses the class, and netlib does not call the
         * callback. */
        callback = (struct address_callback){.answer = NETLIB_VERDICT_REFUSE};
        for (int by_class = 0; by_class < 2; by_class++) {
            snprintf(message, sizeof message,
                     by_class ? "cannot connect to %s: the address policy refuses %s: unix"
                              : "cannot connect to %s: the address callback refuses %s (unix)",
                     printed, printed);
            for (int way = 0; way < 2; way++) {
                netlib_connect *connect = way ? connect_to(row->name, row->len, options) : NULL;
                netlib_status status =
                    way ? netlib_connect_run(connect, NULL, &fd, &err)
                        : netlib_create_unix_connection(row->name, row->len, options, NULL, &fd, &err);
                CHECK_INT(-1, fd);
                CHECK_STR(message, netlib_error_message(err, NULL));
                CHECK_STATUS(NETLIB_ADDRESS_REFUSED, status);
                netlib_connect_free(connect);
            }
            CHECK_INT(2, callback.calls);
            netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_UNIX);
        }
        struct pollfd visited = {.fd = server, .events = POLLIN};
        CHECK_INT(0, poll(&visited, 1, 0));
        netlib_connect_options_free(options);
        close(server);
    }
    /* netlib repeats connect(2) if the backlog is full. The repetition belongs to the same attempt, so netlib does not
     * call the callback again. */
    netlib_error *err = NULL;
    int filler = -1, fd = -1;
    int server = full_listener(path, &filler);
    struct address_callback callback = {.answer = NETLIB_VERDICT_ALLOW};
    netlib_connect_options *options = options_with_timeout(0.05);
    netlib_connect_options_set_address_callback(options, record_address, &callback, NULL);
    CHECK_STATUS(NETLIB_CONNECT_TIMEOUT, netlib_create_unix_connection(path, NETLIB_NTS, options, NULL, &fd, &err));
    CHECK_INT(1, callback.calls);
    netlib_connect_options_free(options);
    close(filler);
    close(server);
}

/* ---- using the socket ---- */

static void the_wait_functions_and_is_connection_dropped_accept_unix_sockets(void) {
    netlib_error *err = NULL;
    const char *path = in_directory("waiting");
    int server = unix_listener(path, strlen(path)), fd = -1;
    CHECK_OK(netlib_create_unix_connection(path, NETLIB_NTS, NULL, NULL, &fd, &err));
    int peer = accept(server, NULL, NULL);
    int32_t dropped = 1;
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(!dropped);
    CHECK_STATUS(NETLIB_TIMED_OUT, netlib_wait_for_read(fd, 0.0, NULL, &err));
    CHECK_OK(netlib_wait_for_write(fd, 0.0, NULL, &err));
    CHECK(write(peer, "x", 1) == 1);
    CHECK_OK(netlib_wait_for_read(fd, LONG, NULL, &err));
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(dropped);
    char byte = 0;
    CHECK(read(fd, &byte, 1) == 1);
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(!dropped);
    /* Closing a socket with unread data resets the connection. */
    CHECK(write(fd, "y", 1) == 1);
    close(peer);
    CHECK_OK(netlib_wait_for_read(fd, LONG, NULL, &err));
    CHECK_OK(netlib_is_connection_dropped(fd, &dropped, &err));
    CHECK(dropped);
    close(fd);
    close(server);
}

static void a_tls_stream_transfers_data_over_a_unix_socket(void) {
    netlib_error *err = NULL;
    char abstract[40] = {0};
    snprintf(abstract + 1, sizeof abstract - 1, "netlib tls %d", (int)getpid());
    size_t len = 1 + strlen(abstract + 1);
    int listening = unix_listener(abstract, len), fd = -1;
    netlib_limit *limit = limit_of(LONG);
    CHECK_OK(netlib_create_unix_connection(abstract, len, NULL, limit, &fd, &err));
    netlib_tls_context *client = client_context(), *context = server_context("server");
    struct server server = {.does = SERVE_ECHO, .context = context, .fd = accept(listening, NULL, NULL)};
    server_start(&server);
    netlib_stream *stream = wrap(client, fd, "localhost");
    size_t n = 0;
    char answer[64] = "";
    CHECK_OK(netlib_stream_write(stream, "over a path", 11, &n, &err));
    CHECK_INT(11, (long long)n);
    for (size_t got = 0; got < 11; got += n) {
        if (netlib_stream_read(stream, answer + got, sizeof answer - 1 - got, &n, &err) != NETLIB_OK) break;
    }
    CHECK_STR("over a path", answer);
    CHECK_OK(netlib_stream_shutdown(stream, &err));
    CHECK_STATUS(NETLIB_END_OF_STREAM, netlib_stream_read(stream, answer, sizeof answer, &n, &err));
    server_join(&server);
    CHECK_INT(NETLIB_END_OF_STREAM, server.status);
    netlib_stream_free(stream);
    close(fd);

    /* TLS over a Unix domain socket needs a server name for the certificate check, because a path contains no server
     * name. */
    CHECK_OK(netlib_create_unix_connection(abstract, len, NULL, limit, &fd, &err));
    server.fd = accept(listening, NULL, NULL);
    server.does = SERVE_HANDSHAKE;
    server_start(&server);
    stream = wrap(client, fd, "other.test");
    CHECK_STATUS(NETLIB_HOSTNAME_MISMATCH, netlib_stream_handshake(stream, &err));
    server_join(&server);
    netlib_stream_free(stream);
    close(fd);
    netlib_tls_context_free(client);
    netlib_tls_context_free(context);
    netlib_limit_free(limit);
    close(listening);
}

int main(void) {
    make_directory();
    connections_to_unix_paths_and_abstract_names_succeed();
    invalid_unix_paths_and_abstract_names_are_refused();
    address_lists_accept_unix_addresses();
    unix_connect_errors_name_the_path_and_the_reason();
    unix_connect_errors_explain_missing_permissions();
    source_addresses_and_ip_socket_options_do_not_affect_unix_sockets();
    the_address_policy_applies_to_unix_addresses();
    the_wait_functions_and_is_connection_dropped_accept_unix_sockets();
    a_tls_stream_transfers_data_over_a_unix_socket();
    remove_directory();
    return report("unix");
}
