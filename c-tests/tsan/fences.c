/* Teaches ThreadSanitizer what a fence does.
 *
 * The last owner of an Arc decrements the count with order "release", then executes a fence with order "acquire",
 * and drops the value. Because of the fence, the last owner comes after all others. ThreadSanitizer's runtime
 * ignores fences, and would report each last owner. So the instrumented library is linked with these two functions
 * in between (--wrap): the decrement records which count it changed, and an acquire fence acquires that count,
 * which is what C11 says of a fence that follows an atomic operation in the same thread. Only that one count is
 * acquired: code that relies on another fence is still reported. */
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
