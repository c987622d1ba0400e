/* report.h - how it ended: the exit code for a failure, and the line that says what to do about it. */
#ifndef EXAMPLES_FETCH_REPORT_H
#define EXAMPLES_FETCH_REPORT_H

#include "options.h"
#include "output.h"

#include <netlib.h>

/* Says on standard error why nothing came of it after so many attempts. `error` may be NULL: `status` is all that is
 * known. */
enum exit_code report_failure(const struct options *options, const struct output *output, int attempts,
                              netlib_status status, const netlib_error *error);

/* For a response that was delivered. */
enum exit_code report_status(int32_t status);

#endif
