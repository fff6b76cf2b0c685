// The few instructions and system calls that Swift cannot name. No allocation, no errors, and no
// state but what the system was asked before.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has the instruction that coz_crc32c needs.
bool coz_crc32c_is_available(void);

// CRC32C (Castagnoli, reflected) of `count` bytes, continuing from the checksum `seed` of what
// came before (0 at the beginning). Call it only where coz_crc32c_is_available().
uint32_t coz_crc32c(const uint8_t *_Nullable bytes, size_t count, uint32_t seed);

// A gate is a word: 0 is shut, 1 is open for good. Many threads wait at it, and one call lets all
// of them go without a lock that they would have to take one after the other.

// Returns when the gate is open; sees what was written before that.
void coz_gate_wait(uint32_t *_Nonnull gate);

// Opens the gate and wakes all that wait at it.
void coz_gate_open(uint32_t *_Nonnull gate);

// How many bytes of the calling thread's stack are left; 0 where the system does not say.
size_t coz_stack_left(void);

// The number of this process. Costs a load where getpid costs a system call.
int32_t coz_process(void);
