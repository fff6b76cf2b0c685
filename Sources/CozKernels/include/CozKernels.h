// The few instructions and system calls that Swift cannot express. The functions do not allocate or
// fail; their only state is cached answers of the system.
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

// Returns the free bytes of the calling thread's stack; 0 if unknown.
size_t coz_stack_remaining(void);

// Returns the process id. It costs a load; getpid costs a system call.
int32_t coz_process_id(void);
