/* failure.h - errors of fetch's own, so that netlib's retry policy and our users see one kind of error. */
#ifndef EXAMPLES_FETCH_FAILURE_H
#define EXAMPLES_FETCH_FAILURE_H

#include <netlib.h>

/* Makes an error with a message as of printf, and returns `status`. `err` is not NULL, here and in all of fetch: an
 * error that nobody sees could not be retried. */
netlib_status fail(netlib_status status, netlib_error **err, const char *format, ...);

/* The same with a cause. `cause` may be NULL; the caller keeps it. If the cause records that a part of the request was
 * sent, netlib records this in the new error too. */
netlib_status fail_because(netlib_status status, const netlib_error *cause, netlib_error **err, const char *format,
                           ...);

/* The same with an explicit retry kind, which overrides those of the status and the cause. */
netlib_status fail_counted_as(enum netlib_retry_kind kind, netlib_status status, const netlib_error *cause,
                              netlib_error **err, const char *format, ...);

#endif
