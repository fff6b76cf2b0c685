// The few machine instructions that Swift cannot name. No allocation, no state, no errors.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has the instruction that coz_crc32c needs.
bool coz_crc32c_is_available(void);

// CRC32C (Castagnoli, reflected) of `count` bytes, continuing from the checksum `seed` of what
// came before (0 at the beginning). Call it only where coz_crc32c_is_available().
uint32_t coz_crc32c(const uint8_t *_Nullable bytes, size_t count, uint32_t seed);
