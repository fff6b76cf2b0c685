// Gates on Linux futexes. The system call compares the word and sleeps atomically, so no wake-up
// is missed. It can also wake up spuriously, hence the loop.

#include "CozKernels.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void coz_gate_wait(uint32_t *gate) {
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) == 0) {
        syscall(SYS_futex, gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

void coz_gate_open(uint32_t *gate) {
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
