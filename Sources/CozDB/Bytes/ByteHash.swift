// A fast hash of byte strings for in-memory tables, and comparison of spans. The hash is seeded per
// process, so it must not be stored on disk; see Checksum.swift.

internal import Glibc

/// A random seed, so that input cannot be crafted to collide in hash tables.
package let hashSeed = UInt64.random(in: .min ... .max)

/// Returns a 32-bit multiply-and-fold hash, computed eight bytes at a time.
func hashBytes(_ bytes: Span<UInt8>) -> UInt32 {
    // Sound: every load below is inside the buffer, whose count was read here.
    unsafe bytes.withUnsafeBytes { buffer in
        let count = buffer.count
        var hash = hashSeed ^ UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= count {
            let word = unsafe buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            hash = fold(hash ^ word)
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < count {
            rest = rest << 8 | UInt64(unsafe buffer[offset])
            offset += 1
        }
        return UInt32(truncatingIfNeeded: fold(hash ^ rest) >> 13)
    }
}

@inline(__always)
private func fold(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
}

extension Span<UInt8> {
    /// Whether both spans hold the same bytes.
    func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // Sound: the counts are equal, and both pointers are valid for that many bytes.
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                unsafe left.count == 0
                    || memcmp(left.baseAddress!, right.baseAddress!, left.count) == 0
            }
        }
    }
}
