// Locks and conditions, after U. Drepper, "Futexes are tricky" (2011), section 6.

#include "CozKernels.h"
#include "wait.h"

#include <limits.h>

void coz_lock_wait(uint32_t *lock) {
    // Critical sections are short: often the lock is free before this thread could sleep.
    for (int spin = 0; spin < 100; spin++) {
        uint32_t state = 0;
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0
            && __atomic_compare_exchange_n(
                lock, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    while (__atomic_exchange_n(lock, 2, __ATOMIC_SEQ_CST) != 0) coz_wait_while(lock, 2, -1);
}

void coz_lock_wake(uint32_t *lock) { coz_wake(lock, 1); }

void coz_condition_wait(uint32_t *condition, uint32_t *lock) {
    uint32_t seen = __atomic_load_n(condition, __ATOMIC_RELAXED);
    coz_unlock(lock);
    coz_wait_while(condition, seen, -1);
    coz_lock(lock);
}

void coz_condition_change(uint32_t *condition) {
    __atomic_fetch_add(condition, 1, __ATOMIC_SEQ_CST);
    coz_wake(condition, INT_MAX);
}
