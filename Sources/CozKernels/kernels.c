// CRC32C with processor instructions: SSE4.2 and carry-less multiplication on x86-64, the CRC
// extension on arm64. Elsewhere coz_crc32c_is_available() returns false, and Checksum.swift uses
// its table.

#include "CozKernels.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

bool coz_crc32c_is_available(void) {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#define KERNEL __attribute__((target("sse4.2,pclmul")))

static inline uint64_t load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// Returns the checksum of some bytes followed by n zero bytes, where factor = x^(8n - 33) mod P.
// The product of two reflected numbers has an extra factor x; the instruction multiplies by x^32.
KERNEL static inline uint32_t shifted(uint32_t crc, uint32_t factor) {
    __m128i product = _mm_clmulepi64_si128(
        _mm_cvtsi32_si128((int)crc), _mm_cvtsi32_si128((int)factor), 0);
    return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

// Computes three adjacent streams of `size` bytes in parallel, because the instruction has a
// latency of three cycles.
KERNEL static inline uint32_t three_streams(
    const uint8_t *bytes, size_t size, uint32_t crc, uint32_t factor, uint32_t factor_double) {
    uint64_t first = crc, second = 0, third = 0;
    for (size_t offset = 0; offset < size; offset += 8) {
        first = _mm_crc32_u64(first, load64(bytes + offset));
        second = _mm_crc32_u64(second, load64(bytes + size + offset));
        third = _mm_crc32_u64(third, load64(bytes + 2 * size + offset));
    }
    return shifted((uint32_t)first, factor_double) ^ shifted((uint32_t)second, factor)
        ^ (uint32_t)third;
}

KERNEL uint32_t coz_crc32c(const uint8_t *bytes, size_t count, uint32_t seed) {
    uint32_t crc = ~seed;
    while (count >= 3 * 1024) {
        crc = three_streams(bytes, 1024, crc, 0x170076fa, 0xa51b6135);
        bytes += 3 * 1024;
        count -= 3 * 1024;
    }
    while (count >= 3 * 128) {
        crc = three_streams(bytes, 128, crc, 0x0d3b6092, 0xb9e02b86);
        bytes += 3 * 128;
        count -= 3 * 128;
    }
    for (; count >= 8; bytes += 8, count -= 8) {
        crc = (uint32_t)_mm_crc32_u64(crc, load64(bytes));
    }
    for (; count > 0; bytes += 1, count -= 1) {
        crc = _mm_crc32_u8(crc, *bytes);
    }
    return ~crc;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

bool coz_crc32c_is_available(void) {
    return true;
}

uint32_t coz_crc32c(const uint8_t *bytes, size_t count, uint32_t seed) {
    uint32_t crc = ~seed;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; bytes += 1, count -= 1) {
        crc = __crc32cb(crc, *bytes);
    }
    return ~crc;
}

#else

bool coz_crc32c_is_available(void) {
    return false;
}

uint32_t coz_crc32c(const uint8_t *bytes, size_t count, uint32_t seed) {
    (void)bytes;
    (void)count;
    return seed;
}

#endif
