/* failure.h - creates netlib_error objects for fetch's own failures, so that the retry policy and the report treat all
 * failures alike. */
#ifndef EXAMPLES_FETCH_FAILURE_H
#define EXAMPLES_FETCH_FAILURE_H

#include <netlib.h>

/* Creates an error with a message in printf's format, and returns `status`. In all functions of fetch, `err` must not
 * be NULL, because the retry policy needs the error. */
netlib_status fail(netlib_status status, netlib_error **err, const char *format, ...);

/* Creates an error with a cause, which stays owned by the caller, and with an explicit retry kind, which overrides the
 * retry kinds of the status and of the cause. */
netlib_status fail_counted_as(enum netlib_retry_kind kind, netlib_status status, const netlib_error *cause,
                              netlib_error **err, const char *format, ...);

#endif
