/* A random number generator that returns the same numbers for the same input, so that a session can be repeated byte
 * for byte. */
#include "wrapped.h"

static uint64_t state;

void fuzz_reset_random(void);
void fuzz_reset_random(void) { state = 0; }

int WRAPPED(RAND_bytes)(uint8_t *out, size_t len);
int WRAPPED(RAND_bytes)(uint8_t *out, size_t len) {
    for (size_t i = 0; i < len; i++) {
        /* SplitMix64. */
        uint64_t mixed = state += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        out[i] = (uint8_t)(mixed ^ mixed >> 31);
    }
    return 1;
}
