/* What ThreadSanitizer does not know of fences.
 *
 * The last owner of an Arc takes the count down with order "release", then stands at a fence with order "acquire", and
 * drops the value. That fence makes the last owner come after all others. ThreadSanitizer's runtime takes a fence for
 * nothing, and would report each last owner. So the instrumented library is linked with these two in between
 * (--wrap): the decrement notes which count it was, and an acquire fence acquires it, which is what C11 says of a fence
 * that follows an atomic operation in the same thread. No more is acquired than that one count: whoever relies on
 * another fence is reported. */
#include <stdint.h>

enum { ACQUIRE = 2, RELEASE = 3, ACQUIRE_RELEASE = 4, SEQUENTIAL = 5 };

uint64_t __tsan_atomic64_fetch_sub(volatile uint64_t *at, uint64_t value, int order);
void __tsan_atomic_thread_fence(int order);
void __tsan_acquire(void *at);

uint64_t __wrap___tsan_atomic64_fetch_sub(volatile uint64_t *at, uint64_t value, int order);
void __wrap___tsan_atomic_thread_fence(int order);

static _Thread_local volatile uint64_t *counted;

uint64_t __wrap___tsan_atomic64_fetch_sub(volatile uint64_t *at, uint64_t value, int order) {
    counted = at;
    return __tsan_atomic64_fetch_sub(at, value, order);
}

void __wrap___tsan_atomic_thread_fence(int order) {
    __tsan_atomic_thread_fence(order);
    if (order == ACQUIRE && counted != (void *)0) __tsan_acquire((void *)(uintptr_t)counted);
    counted = (void *)0;
}
