/* report.h - the exit code for a result, and the line that tells the user how to fix a failure. */
#ifndef EXAMPLES_FETCH_REPORT_H
#define EXAMPLES_FETCH_REPORT_H

#include "options.h"
#include "output.h"

#include <netlib.h>

/* Prints on standard error why all attempts failed. `error` may be NULL if only `status` is known. */
enum exit_code report_failure(const struct options *options, const struct output *output, int attempts,
                              netlib_status status, const netlib_error *error);

/* Returns the exit code for a response that was delivered. */
enum exit_code report_status(int32_t status);

#endif
