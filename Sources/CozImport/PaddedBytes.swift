// Bytes that end in a readable tail, so that the parser can load whole words and needs no bounds
// check per byte. Home of the unsafe code of the parsers.

internal import Glibc

/// A view of bytes behind which a newline and then zeros stand.
///
/// Sound because every scan of the parsers stops at a newline or is bounded by an end it was
/// given, a word is eight bytes, and `PaddedBuffer.padding` is more than any of them looks ahead.
/// Debug builds check every index. Valid until the buffer it was taken from changes.
@safe package struct PaddedBytes {
    @usableFromInline let base: UnsafePointer<UInt8>
    /// Bytes before the tail.
    package let count: Int

    @unsafe package init(base: UnsafePointer<UInt8>, count: Int) {
        unsafe self.base = base
        self.count = count
    }

    @inlinable @inline(__always) package subscript(_ index: Int) -> UInt8 {
        assert(index >= 0 && index < count + PaddedBuffer.padding)
        return unsafe base[index]
    }

    /// Eight bytes as a number, the first one lowest.
    @inlinable @inline(__always) package func word(_ index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count + PaddedBuffer.padding)
        return unsafe UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self).littleEndian
    }

    /// The first place of a byte in a range, or nil.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the range was checked, and memchr reads no further.
        guard let found = unsafe memchr(base + range.lowerBound, Int32(byte), range.count) else {
            return nil
        }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    /// The last place of a byte in a range, or nil.
    package func lastIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var index = range.upperBound
        while index > range.lowerBound {
            index -= 1
            if self[index] == byte { return index }
        }
        return nil
    }

    /// Hands out a range as a span for the duration of a call.
    @inline(__always) package func withSpan<Result>(
        _ range: Range<Int>, _ body: (Span<UInt8>) -> Result
    ) -> Result {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the bytes stay where they are during the call.
        let buffer = unsafe UnsafeBufferPointer(
            start: base + range.lowerBound, count: range.count)
        return body(unsafe buffer.span)
    }

    package func copy(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        append(range, to: &bytes)
        return bytes
    }

    /// Appends a range to an array.
    package func append(_ range: Range<Int>, to array: inout [UInt8]) {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the range was checked, and the bytes stay where they are during the call.
        let buffer = unsafe UnsafeBufferPointer(
            start: base + range.lowerBound, count: range.count)
        unsafe array.append(contentsOf: buffer)
    }

    /// Whether `size` bytes here and there are the same.
    @inline(__always) package func equals(
        at index: Int, _ other: PaddedBytes, at otherIndex: Int, size: Int
    ) -> Bool {
        var offset = 0
        while offset + 8 <= size {
            if word(index + offset) != other.word(otherIndex + offset) { return false }
            offset += 8
        }
        let rest = size - offset
        if rest == 0 { return true }
        let difference = word(index + offset) ^ other.word(otherIndex + offset)
        return difference &<< UInt64(truncatingIfNeeded: 64 &- 8 &* rest) == 0
    }

    /// Bit 7 of the bytes of a word that equal a byte; exact up to and including the first one.
    @inline(__always) package static func places(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ UInt64(byte) &* 0x0101_0101_0101_0101
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    /// Whether a text stands at a place.
    package func starts(with text: StaticString, at index: Int, end: Int) -> Bool {
        guard end - index >= text.utf8CodeUnitCount else { return false }
        // Sound: the loop ends where the text does, and the range was checked above.
        for offset in 0..<text.utf8CodeUnitCount
        where unsafe self[index + offset] != text.utf8Start[offset] {
            return false
        }
        return true
    }

    /// A hash for tables of the parser; eight bytes a step.
    @inline(__always) package func hash(_ range: Range<Int>, seed: Int) -> UInt32 {
        var hash =
            UInt64(truncatingIfNeeded: range.count &+ seed &* 0x1_0001)
            &* 0x9E37_79B9_7F4A_7C15
        var index = range.lowerBound
        while index + 8 <= range.upperBound {
            hash = PaddedBytes.fold(hash ^ word(index))
            index += 8
        }
        let rest = range.upperBound - index
        if rest > 0 {
            hash = PaddedBytes.fold(
                hash ^ word(index) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* rest))
        }
        return UInt32(truncatingIfNeeded: PaddedBytes.fold(hash) >> 13)
    }

    @inline(__always) private static func fold(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    /// The offset of the first byte that no valid UTF-8 text has there, or nil.
    package func firstInvalidUTF8(in range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound {
            if index + 8 <= range.upperBound, word(index) & 0x8080_8080_8080_8080 == 0 {
                index += 8
            } else if self[index] < 0x80 {
                index += 1
            } else {
                let size = scalarSize(at: index, end: range.upperBound)
                if size == 0 { return index }
                index += size
            }
        }
        return nil
    }

    /// Bytes of the multi-byte scalar at a place; 0 where there is no valid one (Unicode 15,
    /// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
    private func scalarSize(at index: Int, end: Int) -> Int {
        let first = self[index]
        let size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard first >= 0xC2, first <= 0xF4, index + size <= end else { return 0 }
        var lowest: UInt8 = 0x80
        var highest: UInt8 = 0xBF
        switch first {
        case 0xE0: lowest = 0xA0
        case 0xED: highest = 0x9F
        case 0xF0: lowest = 0x90
        case 0xF4: highest = 0x8F
        default: break
        }
        guard self[index + 1] >= lowest, self[index + 1] <= highest else { return 0 }
        for offset in 2..<Swift.max(size, 2) where self[index + offset] & 0xC0 != 0x80 {
            return 0
        }
        return size
    }
}

/// A growing byte string with the tail that `PaddedBytes` relies on.
@safe package struct PaddedBuffer: ~Copyable {
    /// Readable bytes after the last one: a newline, then zeros.
    package static let padding = 64

    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    package private(set) var count = 0

    package init(capacity: Int = 4096) {
        self.capacity = capacity
        unsafe base = .allocate(capacity: capacity + PaddedBuffer.padding)
        sealTail()
    }

    deinit {
        unsafe base.deallocate()
    }

    package var bytes: PaddedBytes {
        @inline(__always) get { unsafe PaddedBytes(base: UnsafePointer(base), count: count) }
    }

    package mutating func removeAll() {
        count = 0
        sealTail()
    }

    /// Removes bytes from the front; the others move.
    package mutating func removeFirst(_ size: Int) {
        precondition(size >= 0 && size <= count, "more bytes to remove than there are")
        // Sound: both ranges lie inside the allocation, memmove allows overlap.
        unsafe memmove(base, base + size, count - size)
        count -= size
        sealTail()
    }

    /// Removes bytes from the end until `size` are left.
    package mutating func truncate(to size: Int) {
        precondition(size >= 0 && size <= count, "more bytes to keep than there are")
        count = size
        sealTail()
    }

    /// Makes room for `size` more bytes, lets the body write some of them and keeps those.
    ///
    /// - Parameter body: returns how many bytes it wrote.
    package mutating func append<Failure: Error>(
        upTo size: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        reserve(size)
        // Sound: `reserve` made room for this many bytes behind the last one.
        let room = unsafe UnsafeMutableRawBufferPointer(start: base + count, count: size)
        let written = try unsafe body(room)
        precondition(written >= 0 && written <= size, "more bytes written than there was room for")
        count += written
        sealTail()
    }

    package mutating func append(_ source: Span<UInt8>) {
        unsafe append(upTo: source.count) { target in
            // Sound: target has room for exactly this many bytes.
            unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            return source.count
        }
    }

    /// Appends a copy of bytes that are there.
    package mutating func append(from range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the buffer")
        reserve(range.count)
        // Sound: checked above; the copy goes behind the last byte.
        unsafe memcpy(base + count, base + range.lowerBound, range.count)
        count += range.count
        sealTail()
    }

    package mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe base[count] = byte
        count += 1
        sealTail()
    }

    /// Overwrites bytes that are there.
    package mutating func replace(at index: Int, with source: Span<UInt8>) {
        precondition(index >= 0 && index + source.count <= count, "outside the buffer")
        // Sound: checked above.
        unsafe source.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe memcpy(base + index, start, bytes.count)
        }
    }

    private mutating func reserve(_ size: Int) {
        guard count + size > capacity else { return }
        let larger = Swift.max(count + size, 2 * capacity)
        let moved = UnsafeMutablePointer<UInt8>.allocate(
            capacity: larger + PaddedBuffer.padding)
        unsafe memcpy(moved, base, count)
        unsafe base.deallocate()
        unsafe base = moved
        capacity = larger
        sealTail()
    }

    private func sealTail() {
        // Sound: the allocation is `padding` bytes larger than the capacity.
        unsafe memset(base + count, 0, PaddedBuffer.padding)
        unsafe base[count] = 0x0A
    }
}
