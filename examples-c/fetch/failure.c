/* Implements failure.h. */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

static netlib_status make(netlib_status status, const netlib_error_options *options, netlib_error **err,
                          const char *format, va_list arguments) {
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    netlib_status made = netlib_error_new(status, message, options, err, NULL);
    if (made == NETLIB_INVALID_UTF8) {
        /* An error message must be valid UTF-8, but file names and server replies may contain any bytes, so all bytes
         * that are not ASCII are replaced. */
        for (char *c = message; *c != '\0'; c++) *c = (unsigned char)*c < 0x80 ? *c : '?';
        made = netlib_error_new(status, message, options, err, NULL);
    }
    return made == NETLIB_OK ? status : made;
}

netlib_status fail(netlib_status status, netlib_error **err, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    status = make(status, NULL, err, format, arguments);
    va_end(arguments);
    return status;
}

netlib_status fail_counted_as(enum netlib_retry_kind kind, netlib_status status, const netlib_error *cause,
                              netlib_error **err, const char *format, ...) {
    netlib_error_options *options = netlib_error_options_new();
    netlib_error_options_set_cause(options, cause);
    netlib_error_options_set_retry_kind(options, kind);
    va_list arguments;
    va_start(arguments, format);
    status = make(status, options, err, format, arguments);
    va_end(arguments);
    netlib_error_options_free(options);
    return status;
}
