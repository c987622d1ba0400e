/* Fuzzes address classification: reads the input as an address in text, and as a sockaddr for connect(2). A sockaddr
 * and its text must have the same address classes. */
#include "../fuzz.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void check_classes(int32_t classes) {
    MUST(classes > 0);
    for (int32_t bit = 1; bit > 0 && bit <= classes; bit <<= 1) {
        if (classes & bit) MUST(netlib_address_class_name(bit) != NULL);
    }
}

/* Checks that the sockaddr that inet_pton(3) makes from the text has the same address classes as the text. */
static void beside_the_system(const char *text, int32_t classes) {
    netlib_error *err = NULL;
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    int32_t same = 0;
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        OK(netlib_classify_address(&four, sizeof four, &same, &err));
        MUST(same == classes);
    }
    if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1) {
        OK(netlib_classify_address(&six, sizeof six, &same, &err));
        MUST(same == classes);
    }
}

static void as_text(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    int32_t classes = 0;
    unsigned char address[sizeof(struct in6_addr)];
    char *text = c_string(data, size);
    netlib_status status =
        ONE_OF(netlib_classify_address_text(text, &classes, &err), size, NETLIB_INVALID_ARGUMENT, NETLIB_INVALID_UTF8);
    if (status == NETLIB_OK) {
        check_classes(classes);
        beside_the_system(text, classes);
    } else {
        MUST(classes == 0);
        MUST(inet_pton(AF_INET, text, address) != 1 && inet_pton(AF_INET6, text, address) != 1);
    }
    free(text);
}

static void as_address(const uint8_t *data, size_t size) {
    netlib_error *err = NULL;
    int32_t classes = 0, same = 0;
    char text[INET6_ADDRSTRLEN];
    sa_family_t family = AF_UNSPEC;
    uint8_t *address = exact(data, size);
    netlib_status status =
        ONE_OF(netlib_classify_address(address, size, &classes, &err), size, NETLIB_INVALID_ARGUMENT);
    if (size >= sizeof family) memcpy(&family, address, sizeof family);
    if (status == NETLIB_OK) {
        check_classes(classes);
        MUST(family == AF_INET || family == AF_INET6 || family == AF_UNIX);
        if (family != AF_UNIX) {
            size_t at =
                family == AF_INET ? offsetof(struct sockaddr_in, sin_addr) : offsetof(struct sockaddr_in6, sin6_addr);
            MUST(inet_ntop(family, address + at, text, sizeof text) != NULL);
            OK(netlib_classify_address_text(text, &same, &err));
            MUST(same == classes);
        }
    }
    netlib_addresses *list = netlib_addresses_new();
    status = ONE_OF(netlib_addresses_add(list, address, size, &err), size, NETLIB_INVALID_ARGUMENT);
    MUST(netlib_addresses_count(list) == (status == NETLIB_OK));
    netlib_addresses_free(list);
    free(address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    as_text(data, size);
    as_address(data, size);
    return 0;
}
