/* A clock that the test sets. */
#ifndef NETLIB_TEST_OVERLOAD_CLOCK_H
#define NETLIB_TEST_OVERLOAD_CLOCK_H

#include "harness.h"

/* A clock callback that reports the time in `ctx`, a double. */
static inline int32_t read_time(void *ctx, double *seconds) {
    *seconds = *(double *)ctx;
    return 0;
}

#endif
