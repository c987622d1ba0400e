/* A function in which the library panics returns NETLIB_INTERNAL, and the process continues. The suite `panic` links
 * this program with a static library that has one additional function, netlib_self_test_panic. */
#include "harness.h"

netlib_status netlib_self_test_panic(const char *message, netlib_error **err);

int main(void) {
    static const char *const messages[] = {"index out of range", "", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        netlib_error *err = NULL;
        netlib_status status = netlib_self_test_panic(messages[i], &err);
        const char *message = netlib_error_message(err, NULL);
        CHECK(message != NULL && strstr(message, messages[i]) != NULL);
        CHECK_STATUS(NETLIB_INTERNAL, status);
    }
    /* netlib_self_test_panic accepts NULL for `err`. */
    CHECK_INT(NETLIB_INTERNAL, netlib_self_test_panic("again", NULL));

    /* After a panic, other functions of the library still succeed. */
    netlib_error *err = NULL;
    netlib_error *error = NULL;
    CHECK_OK(netlib_error_new(NETLIB_IO, "after the panics", NULL, &error, &err));
    CHECK_STR("after the panics", netlib_error_message(error, NULL));
    netlib_error_free(error);
    return report("panic");
}
