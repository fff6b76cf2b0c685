// Appends numbers and strings in the format that ByteReader reads. See docs/format/README.md:
// little-endian integers, LEB128 varints, zigzag for signed varints.

/// A growing byte buffer, the inverse of `ByteReader`.
struct ByteWriter {
    var bytes: [UInt8] = []

    var count: Int { bytes.count }

    init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func append(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func append(_ value: UInt32) {
        // Sound: reads the four bytes of a local value.
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ value: UInt64) {
        // Sound: reads the eight bytes of a local value.
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ value: Span<UInt8>) {
        bytes.append(copying: value)
    }

    mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
    }

    /// Appends an unsigned varint: one to ten groups of seven bits, lowest first.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a nonnegative count, size or number.
    mutating func appendVarint(_ value: Int) {
        precondition(value >= 0, "a count cannot be negative")
        appendVarint(UInt64(truncatingIfNeeded: value))
    }

    /// Appends a signed varint, zigzag-encoded so that small magnitudes are short.
    mutating func appendSigned(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Appends a length and that many bytes.
    mutating func appendBlob(_ value: [UInt8]) {
        appendVarint(value.count)
        bytes.append(contentsOf: value)
    }

    /// Appends a length and that many bytes of UTF-8.
    mutating func appendText(_ value: String) {
        appendVarint(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    mutating func appendZeros(_ count: Int) {
        // An array, because a debug build copies a lazy repetition byte by byte.
        bytes.append(contentsOf: [UInt8](repeating: 0, count: count))
    }

    /// Overwrites four bytes, for lengths that are known only later.
    mutating func replace(at offset: Int, with value: UInt32) {
        for index in 0..<4 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
        }
    }
}
