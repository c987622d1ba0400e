/* Implements random.h. */
#include "random.h"

/* SplitMix64 (Steele, Lea and Flood: "Fast splittable pseudorandom number generators", 2014). */
static uint64_t next(struct random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

double random_unit(struct random *random) { return (double)(next(random) >> 11) * 0x1p-53; }

/* Von Neumann's method: it only compares uniform numbers, so the result does not depend on a logarithm, which
 * differs between C libraries. A descending run of odd length ends the search. */
int64_t random_exponential(struct random *random, int64_t mean) {
    for (int whole = 0;; whole++) {
        double first = random_unit(random), last = first;
        int length = 0;
        for (double u = last; u <= last; length++) {
            last = u;
            u = random_unit(random);
        }
        if (length % 2 == 1) return (int64_t)((whole + first) * (double)mean);
    }
}
