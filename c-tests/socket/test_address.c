/* Tests address classes, the policy that refuses classes, and the address callback. */
#define _GNU_SOURCE
#include "socket_peer.h"

#include <errno.h>
#include <sys/un.h>

static int32_t class_of(const char *text) {
    netlib_error *err = NULL;
    int32_t classes = -1;
    CHECK_OK(netlib_classify_address_text(text, &classes, &err));
    return classes;
}

static void address_texts_are_mapped_to_address_classes(void) {
    static const struct {
        const char *text;
        int32_t classes;
    } rows[] = {
        {"169.254.169.254", NETLIB_ADDRESS_CLASS_METADATA | NETLIB_ADDRESS_CLASS_LINK_LOCAL},
        {"168.63.129.16", NETLIB_ADDRESS_CLASS_METADATA},
        {"fd00:ec2::254", NETLIB_ADDRESS_CLASS_METADATA | NETLIB_ADDRESS_CLASS_PRIVATE},
        {"127.0.0.1", NETLIB_ADDRESS_CLASS_LOOPBACK},
        {"[::1]", NETLIB_ADDRESS_CLASS_LOOPBACK},
        {"::ffff:127.0.0.1", NETLIB_ADDRESS_CLASS_LOOPBACK},
        {"2002:7f00:1::", NETLIB_ADDRESS_CLASS_LOOPBACK | NETLIB_ADDRESS_CLASS_SPECIAL},
        {"64:ff9b::7f00:1", NETLIB_ADDRESS_CLASS_LOOPBACK},
        {"0.0.0.0", NETLIB_ADDRESS_CLASS_UNSPECIFIED},
        {"::", NETLIB_ADDRESS_CLASS_UNSPECIFIED},
        {"fe80::1%lo", NETLIB_ADDRESS_CLASS_LINK_LOCAL},
        {"192.168.1.1", NETLIB_ADDRESS_CLASS_PRIVATE},
        {"100.64.0.1", NETLIB_ADDRESS_CLASS_SHARED},
        {"ff02::1", NETLIB_ADDRESS_CLASS_MULTICAST},
        {"255.255.255.255", NETLIB_ADDRESS_CLASS_RESERVED},
        {"192.0.2.1", NETLIB_ADDRESS_CLASS_DOCUMENTATION},
        {"198.18.0.1", NETLIB_ADDRESS_CLASS_BENCHMARKING},
        {"100::1", NETLIB_ADDRESS_CLASS_SPECIAL},
        {"8.8.8.8", NETLIB_ADDRESS_CLASS_GLOBAL},
        {"2606:4700::1111", NETLIB_ADDRESS_CLASS_GLOBAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) CHECK_INT(rows[i].classes, class_of(rows[i].text));

    static const char *const refused[] = {"",           "localhost",  "127.1", "0x7f.0.0.1",
                                          "0177.0.0.1", "2130706433", "[::1",  "127.0.0.1:80"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        netlib_error *err = NULL;
        int32_t classes = -1;
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address_text(refused[i], &classes, &err));
        CHECK_INT(0, classes);
    }
    netlib_error *err = NULL;
    int32_t classes = -1;
    CHECK_STATUS(NETLIB_INVALID_UTF8, netlib_classify_address_text("\xff", &classes, &err));
}

static void sockaddrs_are_mapped_to_address_classes(void) {
    netlib_error *err = NULL;
    int32_t classes = -1;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {htonl(0x0a000001)}};
    CHECK_OK(netlib_classify_address(&in, sizeof in, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_PRIVATE, classes);
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    CHECK_INT(1, inet_pton(AF_INET6, "::ffff:169.254.169.254", &in6.sin6_addr));
    CHECK_OK(netlib_classify_address(&in6, sizeof in6, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_METADATA | NETLIB_ADDRESS_CLASS_LINK_LOCAL, classes);
    /* The address is stored in a larger buffer, as with accept(2) and getpeername(2). */
    struct sockaddr_storage storage = {0};
    memcpy(&storage, &in, sizeof in);
    CHECK_OK(netlib_classify_address(&storage, sizeof storage, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_PRIVATE, classes);
    /* The address may have any alignment. */
    char bytes[sizeof in6 + 1];
    memcpy(bytes + 1, &in6, sizeof in6);
    CHECK_OK(netlib_classify_address(bytes + 1, sizeof in6, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_METADATA | NETLIB_ADDRESS_CLASS_LINK_LOCAL, classes);
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/socket"};
    CHECK_OK(netlib_classify_address(&un, sizeof un, &classes, &err));
    CHECK_INT(NETLIB_ADDRESS_CLASS_UNIX, classes);

    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in, sizeof in - 1, &classes, &err));
    CHECK_INT(0, classes);
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in6, sizeof in6 - 1, &classes, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in, 0, &classes, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in, 1, &classes, &err));
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in, NETLIB_NTS, &classes, &err));
    in.sin_family = AF_UNSPEC;
    CHECK_STATUS(NETLIB_INVALID_ARGUMENT, netlib_classify_address(&in, sizeof in, &classes, &err));
}

static void each_address_class_has_a_name(void) {
    static const char *const names[] = {"metadata",        "loopback",  "unspecified", "link-local",    "private",
                                        "shared",          "multicast", "reserved",    "documentation", "benchmarking",
                                        "special-purpose", "unix",      "global"};
    enum { COUNT = sizeof names / sizeof names[0] };
    for (int i = 0; i < COUNT; i++) CHECK_STR(names[i], netlib_address_class_name(1 << i));
    CHECK_STR("metadata", netlib_address_class_name(NETLIB_ADDRESS_CLASS_METADATA | NETLIB_ADDRESS_CLASS_LINK_LOCAL));
    CHECK_STR("loopback", netlib_address_class_name(NETLIB_ADDRESS_CLASS_SPECIAL | NETLIB_ADDRESS_CLASS_LOOPBACK));
    CHECK_STR(NULL, netlib_address_class_name(0));
    CHECK_STR(NULL, netlib_address_class_name(1 << COUNT));
    CHECK_STR(NULL, netlib_address_class_name(NETLIB_ADDRESS_CLASS_LOOPBACK | 1 << COUNT));
    CHECK_STR(NULL, netlib_address_class_name(-1));
    CHECK_INT((1 << COUNT) - 1, NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL | NETLIB_ADDRESS_CLASS_GLOBAL);
    CHECK_INT(0, NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL & NETLIB_ADDRESS_CLASS_GLOBAL);
}

/* Checks that the listener has received no connection. */
static void check_unvisited(int server) {
    struct pollfd readable = {.fd = server, .events = POLLIN};
    CHECK_INT(0, poll(&readable, 1, 0));
}

/* The policy checks the binary address, so its spelling does not matter. */
static void an_address_that_the_policy_refuses_is_refused_in_every_spelling(void) {
    static const char *const hosts[] = {
        "127.0.0.1",
        "[127.0.0.1]",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "127.0.0.1.",
        "::ffff:127.0.0.1",
        "::1",
        "[::1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "0.0.0.0",
        "0",
        "::",
        "[::ffff:0:0]",
        "2002:7f00:1::",
        "localhost",
        "::1%lo",
        "LOCALHOST",
        "127.0.0.1%lo",
        "[64:ff9b:1::7f00:1]",
    };
    int32_t port = 0;
    int server = listener(&port);
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        netlib_error *err = NULL;
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_LOOPBACK);
        netlib_connect_options_set_timeout(options, 5.0);
        int fd = 0;
        netlib_status status = netlib_create_connection(hosts[i], port, options, NULL, &fd, &err);
        CHECK_INT(-1, fd);
        /* If the system does not parse a host as an address, the call fails without a connection attempt. */
        CHECK(status == NETLIB_ADDRESS_REFUSED || status == NETLIB_NAME_RESOLUTION || status == NETLIB_INVALID_URL);
        if (i < 6) CHECK_INT(NETLIB_ADDRESS_REFUSED, status);
        if (status == NETLIB_ADDRESS_REFUSED) {
            const char *message = netlib_error_message(err, NULL);
            CHECK(strstr(message, ": loopback") != NULL || strstr(message, ": unspecified") != NULL);
            CHECK(netlib_error_cause_count(err) > 0);
        }
        netlib_error_free(err);
        netlib_connect_options_free(options);
    }
    check_unvisited(server);
    close(server);
}

static void the_address_callback_gets_the_address_to_which_netlib_connects(void) {
    netlib_error *err = NULL;
    int32_t port = 0;
    int server = listener(&port);
    struct address_callback callback = {.answer = NETLIB_VERDICT_ALLOW};
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, record_address, &callback, NULL);
    int fd = -1;
    CHECK_OK(netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    CHECK_INT(0, getpeername(fd, (struct sockaddr *)&peer, &len));
    CHECK_INT(1, callback.calls);
    CHECK_INT(NETLIB_ADDRESS_CLASS_LOOPBACK, callback.classes);
    CHECK(callback.len == sizeof peer);
    CHECK(memcmp(&peer, callback.bytes, sizeof peer) == 0);
    close(fd);
    close(accept(server, NULL, NULL));

    CHECK_OK(netlib_create_connection("[::ffff:127.0.0.1]", port, options, NULL, &fd, &err));
    struct sockaddr_in6 peer6;
    len = sizeof peer6;
    CHECK_INT(0, getpeername(fd, (struct sockaddr *)&peer6, &len));
    CHECK_INT(2, callback.calls);
    CHECK_INT(NETLIB_ADDRESS_CLASS_LOOPBACK, callback.classes);
    CHECK(callback.len == sizeof peer6);
    CHECK(memcmp(&peer6, callback.bytes, sizeof peer6) == 0);
    close(fd);
    close(accept(server, NULL, NULL));

    /* A callback of a language binding stores nothing after an exception. This result must not allow the address. */
    static const char must_store[] = "it must store NETLIB_VERDICT_ALLOW or NETLIB_VERDICT_REFUSE";
    static const struct {
        int32_t answer;
        netlib_status status;
        const char *message_part;
    } rows[] = {
        {NETLIB_VERDICT_REFUSE, NETLIB_ADDRESS_REFUSED, "refuses 127.0.0.1 (loopback)"},
        {NETLIB_VERDICT_FAILED, NETLIB_CALLBACK_FAILED, "failed: it stored no decision"},
        {-1, NETLIB_CALLBACK_FAILED, "stored -1; "},
        {3, NETLIB_CALLBACK_FAILED, "stored 3; "},
        {NETLIB_IO, NETLIB_CALLBACK_FAILED, "stored 402; "},
        {INT32_MAX, NETLIB_CALLBACK_FAILED, "stored 2147483647; "},
        {INT32_MIN, NETLIB_CALLBACK_FAILED, "stored -2147483648; "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        callback = (struct address_callback){.answer = rows[i].answer};
        netlib_status status = netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err);
        char message[256];
        snprintf(message, sizeof message, "cannot connect to 127.0.0.1 port %d: the address callback %s%s", (int)port,
                 rows[i].message_part, strchr(rows[i].message_part, ';') != NULL ? must_store : "");
        CHECK_STR(message, netlib_error_message(err, NULL));
        CHECK(netlib_error_cause_count(err) == 1);
        CHECK_STATUS(rows[i].status, status);
        CHECK_INT(1, callback.calls);
        CHECK_INT(-1, fd);
    }
    check_unvisited(server);

    /* netlib does not call the address callback for an address of a refused class, or after the callback was
     * removed. */
    callback = (struct address_callback){.answer = NETLIB_VERDICT_ALLOW};
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL);
    CHECK_STATUS(NETLIB_ADDRESS_REFUSED, netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
    CHECK_INT(0, callback.calls);
    netlib_connect_options_free(options);
    options = netlib_connect_options_new();
    netlib_connect_options_set_address_callback(options, record_address, &callback, NULL);
    netlib_connect_options_set_address_callback(options, NULL, NULL, NULL);
    CHECK_OK(netlib_create_connection("127.0.0.1", port, options, NULL, &fd, &err));
    CHECK_INT(0, callback.calls);
    close(fd);
    netlib_connect_options_free(options);
    close(server);
}

static void unknown_address_class_bits_are_refused(void) {
    static const int32_t unknown[] = {0x2000, -1, INT32_MIN};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        netlib_error *err = NULL;
        netlib_connect_options *options = netlib_connect_options_new();
        netlib_connect_options_refuse_addresses(options, unknown[i]);
        int fd = 0;
        netlib_status status = netlib_create_connection("127.0.0.1", 1, options, NULL, &fd, &err);
        static const char expected[] = "netlib_connect_options_refuse_addresses: classes has unknown bits";
        const char *message = netlib_error_message(err, NULL);
        CHECK(message != NULL && strncmp(message, expected, sizeof expected - 1) == 0);
        CHECK_STATUS(NETLIB_INVALID_ARGUMENT, status);
        netlib_connect_options_free(options);
    }
}

/* A retry policy does not retry a request whose address the address policy refuses. */
static void an_address_that_the_address_policy_refuses_is_never_retried(void) {
    netlib_error *err = NULL, *refusal = NULL;
    netlib_connect_options *options = netlib_connect_options_new();
    netlib_connect_options_refuse_addresses(options, NETLIB_ADDRESS_CLASS_LOOPBACK);
    int open_before = open_descriptors(), fd = 0;
    CHECK_INT(NETLIB_ADDRESS_REFUSED, netlib_create_connection("127.0.0.1", 1, options, NULL, &fd, &refusal));
    CHECK_INT(open_before, open_descriptors());
    CHECK_INT(NETLIB_CLASS_CONNECT, netlib_status_class(NETLIB_ADDRESS_REFUSED));
    CHECK_INT(NETLIB_RETRY_KIND_NEVER, netlib_status_retry_kind(netlib_error_status(refusal)));
    netlib_retry *retry = NULL, *next = NULL;
    CHECK_OK(netlib_retry_new(NULL, &retry, &err));
    CHECK_STATUS(NETLIB_ADDRESS_REFUSED, netlib_retry_increment(retry, "GET", "/", NULL, refusal, &next, &err));
    CHECK(next == NULL);
    netlib_retry_free(retry);
    netlib_error_free(refusal);
    netlib_connect_options_free(options);
}

int main(void) {
    address_texts_are_mapped_to_address_classes();
    sockaddrs_are_mapped_to_address_classes();
    each_address_class_has_a_name();
    an_address_that_the_policy_refuses_is_refused_in_every_spelling();
    the_address_callback_gets_the_address_to_which_netlib_connects();
    unknown_address_class_bits_are_refused();
    an_address_that_the_address_policy_refuses_is_never_retried();
    return report("address");
}
