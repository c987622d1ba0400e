/* Tests that clients and servers write the secrets of their sessions to a key log. */
#define _GNU_SOURCE
/* NETLIB_MUST_USE is empty, so that a test may ignore a result. */
#define NETLIB_MUST_USE
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

static char folder[] = "/tmp/netlib-keylog-XXXXXX";

/* Returns the path of a file in the test folder. The caller frees the path. */
static char *in_folder(const char *name) {
    char *path = malloc(200);
    snprintf(path, 200, "%s/%s", folder, name);
    return path;
}

static void do_handshake(const netlib_tls_context *client_side, const netlib_tls_context *server_side) {
    netlib_error *err = NULL;
    struct pair pair = unix_pair();
    struct server server = {.does = SERVE_HANDSHAKE, .context = server_side, .fd = pair.far};
    server_start(&server);
    netlib_stream *stream = wrap(client_side, pair.near, "localhost");
    CHECK_OK(netlib_stream_handshake(stream, &err));
    server_join(&server);
    CHECK_INT(NETLIB_OK, server.status);
    netlib_stream_free(stream);
    close(pair.near);
}

static netlib_tls_options *server_options(void) {
    netlib_tls_options *options = netlib_tls_options_new();
    netlib_tls_options_set_identity_files(options, CERTS "server.pem", CERTS "server.key");
    netlib_tls_options_set_verify_mode(options, NETLIB_CERT_NONE);
    netlib_tls_options_set_keylog_file(options, NULL);
    return options;
}

enum { LINES = 32, WIDTH = 256 };

struct log {
    size_t count;
    char lines[LINES][WIDTH];
};

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Reads the lines of a key log and sorts them. Returns no lines if the file does not exist. */
static struct log read_log(const char *path) {
    struct log log = {0};
    FILE *file = fopen(path, "r");
    while (file != NULL && log.count < LINES && fgets(log.lines[log.count], WIDTH, file) != NULL) log.count++;
    if (file != NULL) fclose(file);
    qsort(log.lines, log.count, WIDTH, by_text);
    return log;
}

/* Checks that a line has the NSS format: a label, a client random of 32 bytes, and a secret of 32 or 48 bytes. */
static void check_line(const char *label, const char *line) {
    size_t len = strlen(label), hex = 0;
    CHECK(strncmp(line, label, len) == 0 && line[len] == ' ');
    line += len + 1;
    CHECK_INT(64, (long long)strspn(line, "0123456789abcdef"));
    CHECK(line[64] == ' ');
    hex = strspn(line + 65, "0123456789abcdef");
    CHECK(hex == 64 || hex == 96);
    CHECK_STR("\n", line + 65 + hex);
}

static void both_sides_write_key_log_lines_in_the_nss_format(void) {
    static const char *const labels12[] = {"CLIENT_RANDOM"};
    static const char *const labels13[] = {
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET",
        "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0",
    };
    for (int32_t version = NETLIB_TLS_VERSION_1_2; version <= NETLIB_TLS_VERSION_1_3; version++) {
        const char *const *labels = version == NETLIB_TLS_VERSION_1_2 ? labels12 : labels13;
        size_t count = version == NETLIB_TLS_VERSION_1_2 ? 1 : 5;
        char *near = in_folder(version == NETLIB_TLS_VERSION_1_2 ? "near12" : "near13");
        char *far = in_folder(version == NETLIB_TLS_VERSION_1_2 ? "far12" : "far13");
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_keylog_file(options, near);
        netlib_tls_options_set_maximum_version(options, version);
        netlib_tls_options_set_resumption(options, 0);
        netlib_tls_context *client_side = context_of(options);
        options = server_options();
        netlib_tls_options_set_keylog_file(options, far);
        netlib_tls_context *server_side = context_of(options);
        size_t len = 0;
        CHECK_STR(near, netlib_tls_context_keylog_file(client_side, &len));
        CHECK_INT((long long)strlen(near), (long long)len);
        do_handshake(client_side, server_side);
        struct log ours = read_log(near), theirs = read_log(far);
        CHECK_INT((long long)count, (long long)ours.count);
        for (size_t i = 0; i < count; i++) check_line(labels[i], ours.lines[i]);
        /* Both sides log the same secrets. */
        CHECK(memcmp(&ours, &theirs, sizeof ours) == 0);
        struct stat status;
        CHECK(stat(near, &status) == 0 && (status.st_mode & 0777) == 0600);
        /* Later sessions of this context and of another context append to the file. */
        do_handshake(client_side, server_side);
        options = netlib_tls_context_to_options(client_side);
        netlib_tls_context *other = context_of(options);
        do_handshake(other, server_side);
        struct log longer = read_log(near);
        CHECK_INT((long long)(3 * count), (long long)longer.count);
        netlib_tls_context_free(other);
        netlib_tls_context_free(client_side);
        netlib_tls_context_free(server_side);
        free(near);
        free(far);
    }
}

/* Returns true if the process has the file open. Checks that each descriptor of the file is close-on-exec. */
static bool holds_open(const char *path) {
    struct stat wanted, status;
    bool found = false;
    if (stat(path, &wanted) != 0) return false;
    for (int fd = 3; fd < 256; fd++) {
        if (fstat(fd, &status) != 0 || status.st_ino != wanted.st_ino || status.st_dev != wanted.st_dev) continue;
        found = true;
        CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    return found;
}

static void sslkeylogfile_or_the_setter_names_the_key_log_file(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    char *variable = in_folder("variable"), *setting = in_folder("setting");
    static const struct {
        const char *variable; /* SSLKEYLOGFILE; NULL: unset; "file": the path of a file */
        int32_t use_environment;
        int set; /* 0: not called, 1: with the path, 2: with NULL */
        int to;  /* 0: no file, 1: the file of the variable, 2: the file that was set */
    } rows[] = {
        {NULL, 1, 0, 0}, {"", 1, 0, 0},     {"file", 1, 0, 1}, {"file", 0, 0, 0},
        {NULL, 1, 1, 2}, {"file", 1, 1, 2}, {"file", 0, 1, 2}, {"file", 1, 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *expected = rows[i].to == 1 ? variable : rows[i].to == 2 ? setting : NULL;
        unlink(variable);
        unlink(setting);
        if (rows[i].variable != NULL) setenv("SSLKEYLOGFILE", rows[i].variable[0] != '\0' ? variable : "", 1);
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_use_environment(options, rows[i].use_environment);
        if (rows[i].set != 0) netlib_tls_options_set_keylog_file(options, rows[i].set == 1 ? setting : NULL);
        CHECK(access(variable, F_OK) != 0 && access(setting, F_OK) != 0);
        context = context_of(options);
        unsetenv("SSLKEYLOGFILE");
        CHECK_STR(expected, netlib_tls_context_keylog_file(context, NULL));
        CHECK_INT(rows[i].to == 1, access(variable, F_OK) == 0);
        CHECK_INT(rows[i].to == 2, access(setting, F_OK) == 0);
        if (expected != NULL) CHECK(holds_open(expected));
        netlib_tls_context *server_side = context_of(server_options());
        do_handshake(context, server_side);
        struct log log = read_log(expected != NULL ? expected : variable);
        CHECK_INT(expected != NULL ? 5 : 0, (long long)log.count);
        netlib_tls_context_free(server_side);
        netlib_tls_context_free(context);
        if (expected != NULL) CHECK(!holds_open(expected));
    }
    /* The error names the path of a key log file that cannot be opened. */
    char message[400];
    setenv("SSLKEYLOGFILE", folder, 1);
    netlib_tls_options *options = client_options();
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    snprintf(message, sizeof message, "SSLKEYLOGFILE: cannot open key log %s: Is a directory", folder);
    CHECK_STR(message, netlib_error_message(err, NULL));
    CHECK_INT(EISDIR, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    unsetenv("SSLKEYLOGFILE");
    netlib_tls_options_free(options);
    free(variable);
    free(setting);
}

static void name_missing_ca_file(netlib_tls_options *options) {
    netlib_tls_options_add_ca_file(options, "/nonexistent/ca.pem");
}
static void serve_without_identity(netlib_tls_options *options) { netlib_tls_options_set_server_only(options, 1); }
static void trust_nothing(netlib_tls_options *options) { netlib_tls_options_set_system_trust(options, 0); }

static void a_context_that_cannot_be_created_leaves_no_key_log_file(void) {
    static const struct {
        void (*defect)(netlib_tls_options *);
        netlib_status status;
    } rows[] = {
        {name_missing_ca_file, NETLIB_IO},
        {serve_without_identity, NETLIB_INVALID_ARGUMENT},
        {trust_nothing, NETLIB_NO_TRUST_ANCHORS},
    };
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    char *path = in_folder("never");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        netlib_tls_options *options = netlib_tls_options_new();
        netlib_tls_options_set_keylog_file(options, path);
        rows[i].defect(options);
        CHECK_STATUS(rows[i].status, netlib_tls_context_new(options, &context, &err));
        CHECK(access(path, F_OK) != 0);
        unlink(path);
        netlib_tls_options_free(options);
    }
    /* netlib_ssl_wrap_socket makes a context, and then a stream. The file exists only after both are made: the handshake
     * fails because the peer closes the connection. */
    static const struct {
        const char *name;
        bool has_descriptor, exists;
        netlib_status status;
    } sockets[] = {
        {NULL, true, false, NETLIB_INVALID_ARGUMENT},
        {"a b", true, false, NETLIB_INVALID_ARGUMENT},
        {"localhost", false, false, NETLIB_INVALID_ARGUMENT},
        {"localhost", true, true, NETLIB_TLS_HANDSHAKE_EOF},
    };
    for (size_t i = 0; i < sizeof sockets / sizeof sockets[0]; i++) {
        struct sockaddr_in address;
        struct pair pair = unix_pair();
        int listener = tcp_listener(&address);
        netlib_stream *stream = NULL;
        netlib_tls_options *options = client_options();
        netlib_tls_options_set_keylog_file(options, path);
        close(pair.far);
        pair.far = -1;
        CHECK_STATUS(sockets[i].status, netlib_ssl_wrap_socket(sockets[i].has_descriptor ? pair.near : listener,
                                                               options, NULL, sockets[i].name, NULL, &stream, &err));
        CHECK((access(path, F_OK) == 0) == sockets[i].exists);
        unlink(path);
        close(listener);
        close_pair(pair);
        netlib_tls_options_free(options);
    }
    free(path);
}

/* The key log is a pipe. Without a reader, the context cannot be created. If the reader closes the pipe later, the
 * session continues, and the process gets no SIGPIPE. */
static void sessions_continue_after_the_reader_of_a_key_log_pipe_closes_it(void) {
    netlib_error *err = NULL;
    netlib_tls_context *context = NULL;
    char *path = in_folder("pipe"), buffer[4096];
    struct sigaction usual = {0}, now;
    usual.sa_handler = SIG_DFL;
    sigaction(SIGPIPE, &usual, NULL);
    CHECK(mkfifo(path, 0600) == 0);
    netlib_tls_options *options = client_options();
    netlib_tls_options_set_keylog_file(options, path);
    netlib_status status = netlib_tls_context_new(options, &context, &err);
    CHECK_INT(ENXIO, netlib_error_errno(err));
    CHECK_STATUS(NETLIB_IO, status);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    context = context_of(options);
    netlib_tls_context *server_side = context_of(server_options());
    do_handshake(context, server_side);
    ssize_t got = read(reader, buffer, sizeof buffer);
    CHECK(got > 5 * 130 && buffer[got - 1] == '\n');
    close(reader);
    do_handshake(context, server_side);
    sigset_t pending;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
    CHECK(sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    netlib_tls_context_free(context);
    netlib_tls_context_free(server_side);
    free(path);
}

int main(void) {
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSLKEYLOGFILE");
    CHECK(mkdtemp(folder) != NULL);
    both_sides_write_key_log_lines_in_the_nss_format();
    sslkeylogfile_or_the_setter_names_the_key_log_file();
    a_context_that_cannot_be_created_leaves_no_key_log_file();
    sessions_continue_after_the_reader_of_a_key_log_pipe_closes_it();
    static const char *const names[] = {"near12", "near13", "far12", "far13", "variable", "setting", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = in_folder(names[i]);
        unlink(path);
        free(path);
    }
    CHECK(rmdir(folder) == 0);
    return report("tls_keylog");
}
