/* Makes ThreadSanitizer recognize the acquire fence of the last owner of an Arc.
 *
 * The last owner of an Arc decrements the count with order "release", then executes a fence with order "acquire", and
 * drops the value. The fence orders the drop after the accesses of all other owners. ThreadSanitizer's runtime ignores
 * fences, and would report each drop as a race. Therefore the linker option --wrap puts these two functions between the
 * library and the runtime. The first function stores the address of the count that was decremented. The second function
 * tells ThreadSanitizer at an acquire fence that the thread has acquired that count, as C11 defines for a fence after
 * an atomic operation in the same thread. The function names only that count, so ThreadSanitizer reports code that
 * relies on a fence after another operation. */
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
