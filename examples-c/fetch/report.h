/* report.h - prints why fetch failed and how to fix the failure, and chooses the exit code. */
#ifndef EXAMPLES_FETCH_REPORT_H
#define EXAMPLES_FETCH_REPORT_H

#include "options.h"
#include "output.h"

#include <netlib.h>

/* Prints on standard error why fetch failed, and returns the exit code. `error` may be NULL if only `status` is
 * known. */
enum exit_code report_failure(const struct options *options, const struct output *output, int attempts,
                              netlib_status status, const netlib_error *error);

/* Returns the exit code for a response with this status whose body was written completely. */
enum exit_code report_status(int32_t status);

#endif
