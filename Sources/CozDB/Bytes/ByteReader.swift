// A bounds-checked reader of untrusted bytes, the inverse of ByteWriter. Every read is checked
// first, so no input can trap.

/// Reads numbers and strings in sequence. Throws `FormatError` if the bytes end early.
struct ByteReader: ~Escapable {
    private let bytes: Span<UInt8>
    private(set) var offset = 0

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - offset }
    var isAtEnd: Bool { offset == bytes.count }

    @_lifetime(self: copy self)
    mutating func readUInt8() throws(FormatError) -> UInt8 {
        try need(1)
        offset += 1
        return bytes[offset - 1]
    }

    @_lifetime(self: copy self)
    mutating func readUInt32() throws(FormatError) -> UInt32 {
        try need(4)
        offset += 4
        // Sound: `need` has checked that four bytes are available.
        return unsafe UInt32(
            littleEndian: bytes.bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset - 4, as: UInt32.self))
    }

    @_lifetime(self: copy self)
    mutating func readUInt64() throws(FormatError) -> UInt64 {
        try need(8)
        offset += 8
        // Sound: `need` has checked that eight bytes are available.
        return unsafe UInt64(
            littleEndian: bytes.bytes.unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset - 8, as: UInt64.self))
    }

    /// Reads an unsigned varint of one to ten bytes.
    @_lifetime(self: copy self)
    @inline(__always)
    mutating func readVarint() throws(FormatError) -> UInt64 {
        // Nearly all varints have one byte.
        if offset < bytes.count, bytes[offset] < 0x80 {
            offset += 1
            return UInt64(bytes[offset - 1])
        }
        return try readLongVarint()
    }

    @_lifetime(self: copy self)
    @inline(never)
    private mutating func readLongVarint() throws(FormatError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
            if shift > 63 { break }
        }
        if shift >= 63 {
            throw FormatError(.invalid, "a varint of more than 64 bits", at: offset)
        }
        throw FormatError(.truncated, "the bytes end inside a varint", at: offset)
    }

    /// Reads a count, size or number from 0 through `limit`.
    @_lifetime(self: copy self)
    mutating func readCount(limit: Int) throws(FormatError) -> Int {
        let start = offset
        let value = try readVarint()
        guard limit >= 0, value <= UInt64(limit) else {
            throw FormatError(.invalid, "found \(value), expected at most \(limit)", at: start)
        }
        return Int(value)
    }

    @_lifetime(self: copy self)
    mutating func readSigned() throws(FormatError) -> Int64 {
        let value = try readVarint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads `count` bytes without copying.
    @_lifetime(copy self)
    mutating func readBytes(_ count: Int) throws(FormatError) -> Span<UInt8> {
        try need(count)
        offset += count
        return bytes.extracting((offset - count)..<offset)
    }

    /// Reads a length of at most `limit` and that many bytes.
    @_lifetime(copy self)
    mutating func readBlob(limit: Int) throws(FormatError) -> Span<UInt8> {
        let count = try readCount(limit: limit)
        return try readBytes(count)
    }

    /// Reads a length of at most `limit` and that many bytes of valid UTF-8.
    @_lifetime(self: copy self)
    mutating func readText(limit: Int) throws(FormatError) -> String {
        let start = offset
        let blob = try readBlob(limit: limit)
        guard let text = String(validating: blob) else { throw ByteReader.noText(at: start) }
        return text
    }

    /// Reads a text as bytes, without copying.
    @_lifetime(copy self)
    mutating func readTextBytes(limit: Int) throws(FormatError) -> Span<UInt8> {
        let start = offset
        let blob = try readBlob(limit: limit)
        guard (try? UTF8Span(validating: blob)) != nil else { throw ByteReader.noText(at: start) }
        return blob
    }

    private static func noText(at offset: Int) -> FormatError {
        FormatError(.invalid, "found text that is not valid UTF-8", at: offset)
    }

    private func need(_ count: Int) throws(FormatError) {
        guard count >= 0, count <= remaining else {
            throw FormatError(
                .truncated, "found \(remaining) bytes, expected \(count)", at: offset)
        }
    }
}

extension String {
    /// Creates a string; nil if the bytes are not valid UTF-8.
    init?(validating bytes: Span<UInt8>) {
        // Sound: the buffer is valid during the call, and String copies it.
        let text = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe String(validating: buffer, as: UTF8.self)
        }
        guard let text else { return nil }
        self = text
    }
}

extension Array where Element == UInt8 {
    init(copying bytes: Span<UInt8>) {
        self.init()
        append(copying: bytes)
    }
}
