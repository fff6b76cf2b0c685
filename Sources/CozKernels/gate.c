// Gates and semaphores.

#include "CozKernels.h"
#include "wait.h"

#include <limits.h>
#include <time.h>

void coz_gate_wait(uint32_t *gate) {
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) coz_wait_while(gate, 0, -1);
}

static int64_t monotonic_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool coz_gate_wait_for(uint32_t *gate, int64_t nanoseconds) {
    int64_t start = monotonic_time();
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) {
        // A wake-up without a cause must not prolong the wait.
        int64_t left = nanoseconds - (monotonic_time() - start);
        if (left <= 0) return false;
        coz_wait_while(gate, 0, left);
    }
    return true;
}

void coz_gate_open(uint32_t *gate) {
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    coz_wake(gate, INT_MAX);
}

void coz_semaphore_wait(uint32_t *semaphore) {
    while (true) {
        uint32_t count = __atomic_load_n(semaphore, __ATOMIC_RELAXED);
        if (count == 0) {
            coz_wait_while(semaphore, 0, -1);
        } else if (__atomic_compare_exchange_n(
                       semaphore, &count, count - 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
    }
}

void coz_semaphore_post(uint32_t *semaphore) {
    __atomic_fetch_add(semaphore, 1, __ATOMIC_SEQ_CST);
    coz_wake(semaphore, 1);
}
