// The few instructions and system calls that Swift cannot express, and those that differ between
// systems.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has the instructions that coz_crc32c needs.
bool coz_crc32c_is_available(void);

// Returns the CRC32C (Castagnoli, reflected) of `count` bytes. `seed` is the checksum of the bytes
// before them, or 0. Requires coz_crc32c_is_available().
uint32_t coz_crc32c(const uint8_t *_Nullable bytes, size_t count, uint32_t seed);

// A gate is a word: 0 is closed, 1 is permanently open. Many threads can wait for it, and one call
// releases all of them. They need no mutex, which they would have to take in turn.

// Returns when the gate is open. Writes before the opening are visible to the caller.
void coz_gate_wait(uint32_t *_Nonnull gate);

// The same for at most this time (0 or more). Returns whether the gate is open.
bool coz_gate_wait_for(uint32_t *_Nonnull gate, int64_t nanoseconds);

// Opens the gate and wakes all waiting threads.
void coz_gate_open(uint32_t *_Nonnull gate);

// A semaphore is a word, the number of waits that return at once.
void coz_semaphore_wait(uint32_t *_Nonnull semaphore);
void coz_semaphore_post(uint32_t *_Nonnull semaphore);

// A lock is a word: 0 is free, 1 held, 2 held while threads may wait. It has no owner, so that it is
// the same for a thread that called `fork` and has another number in the child.

// The waits of coz_lock and the wake-up of coz_unlock.
void coz_lock_wait(uint32_t *_Nonnull lock);
void coz_lock_wake(uint32_t *_Nonnull lock);

// Takes the lock. Inlined: without contention it is one instruction.
static inline void coz_lock(uint32_t *_Nonnull lock) {
    uint32_t state = 0;
    if (!__atomic_compare_exchange_n(
            lock, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        coz_lock_wait(lock);
    }
}

// Takes the lock if it is free. Returns whether it did.
static inline bool coz_try_lock(uint32_t *_Nonnull lock) {
    uint32_t state = 0;
    return __atomic_compare_exchange_n(
        lock, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void coz_unlock(uint32_t *_Nonnull lock) {
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2) coz_lock_wake(lock);
}

// A condition is a word that counts its changes; the lock protects it.

// Gives the lock back, waits for a change, and takes the lock again. May return without one.
void coz_condition_wait(uint32_t *_Nonnull condition, uint32_t *_Nonnull lock);

// Wakes all threads that wait for a change.
void coz_condition_change(uint32_t *_Nonnull condition);

// Starts a detached thread. Returns 0, or an error number if the system has no thread left.
int coz_thread_start(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

// Runs the body on a new thread with a stack of this size, and waits for its end. Returns as above.
int coz_thread_run(
    size_t stack_size, void *_Nullable (*_Nonnull body)(void *_Nullable),
    void *_Nullable argument);

// Makes the content and the size of a file durable, or the names in a directory. They return -1
// and set errno on failure.
int coz_sync_data(int file);
int coz_sync_directory(int directory);

// Reserves space on the device and makes the file at least this large. Returns 0 or an error number.
int coz_allocate(int file, int64_t size);

// Returns the time of the last change of a file's content, in nanoseconds since 1970.
//
// status: a `struct stat`. If this header named the type, Swift would take it from here.
int64_t coz_modification_time(const void *_Nonnull status);

// Takes a pending signal from this thread, which blocks it. Does nothing if there is none.
void coz_take_signal(int number);

// Returns the free bytes of the calling thread's stack; 0 if unknown.
size_t coz_stack_remaining(void);

// Returns the process id. It costs a load; getpid costs a system call.
int32_t coz_process_id(void);
