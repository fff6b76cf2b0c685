// Gates on Linux futexes. The system call compares the word and sleeps atomically, so no wake-up
// is missed. It can also wake up spuriously, hence the loop.

#include "CozKernels.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void coz_gate_wait(uint32_t *gate) {
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) {
        syscall(SYS_futex, gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

bool coz_gate_wait_for(uint32_t *gate, int64_t nanoseconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t total = end.tv_nsec + nanoseconds;
    end.tv_sec += total / 1000000000;
    end.tv_nsec = total % 1000000000;
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) {
        // This form takes an absolute time, so that no wake-up prolongs the wait.
        long result = syscall(
            SYS_futex, gate, FUTEX_WAIT_BITSET_PRIVATE, 0, &end, NULL, FUTEX_BITSET_MATCH_ANY);
        if (result == -1 && errno == ETIMEDOUT) {
            return __atomic_load_n(gate, __ATOMIC_ACQUIRE) != 0;
        }
    }
    return true;
}

void coz_gate_open(uint32_t *gate) {
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
