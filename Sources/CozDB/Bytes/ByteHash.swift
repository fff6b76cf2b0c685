// Fast hashes of byte strings and row numbers for in-memory tables, and comparison of both. The
// hash of bytes is seeded per process, so it must not be stored on disk; see Checksum.swift.

internal import CozPlatform

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

/// Returns a hash of row numbers, so that lists of different rows need no pairwise comparison. Four
/// independent chains, because a single one would wait for each product.
func hash(_ array: [UInt32]) -> UInt64 {
    let rows = array.span
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var (a, b, c, d) = (UInt64(truncatingIfNeeded: rows.count), factor, factor &+ 1, factor &+ 2)
    var index = 0
    while index + 4 <= rows.count {
        a = (a ^ UInt64(rows[index])) &* factor
        b = (b ^ UInt64(rows[index &+ 1])) &* factor
        c = (c ^ UInt64(rows[index &+ 2])) &* factor
        d = (d ^ UInt64(rows[index &+ 3])) &* factor
        index &+= 4
    }
    while index < rows.count {
        a = (a ^ UInt64(rows[index])) &* factor
        index &+= 1
    }
    let mixed = (a ^ b >> 17 ^ c >> 31 ^ d >> 41).multipliedFullWidth(by: factor)
    return mixed.high ^ mixed.low
}

/// Whether two ascending lists of rows are equal. Measured: 0.2 ns per row for equal lists.
func areEqual(_ leftRows: [UInt32], _ rightRows: [UInt32]) -> Bool {
    let (left, right) = (leftRows.span, rightRows.span)
    let count = left.count
    guard count == right.count else { return false }
    guard count > 0 else { return true }
    guard left[0] == right[0], left[count - 1] == right[count - 1] else { return false }
    var differences: UInt32 = 0
    for index in left.indices { differences |= left[index] ^ right[index] }
    return differences == 0
}
