/* Random numbers from a seed. Equal seeds give equal numbers on every machine. */
#ifndef STORM_RANDOM_H
#define STORM_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

/* Returns a number of at least 0 and less than 1, uniformly distributed. */
double random_unit(struct random *random);

/* Returns an exponentially distributed number of nanoseconds. */
int64_t random_exponential(struct random *random, int64_t mean);

#endif
