// Bytes with a readable tail, so that parsers can load whole words without a bounds check per byte.
// Contains the unsafe code of the parsers.

internal import CozPlatform

/// A view of bytes that are followed by a newline and zeros.
///
/// Sound: every scan stops at a newline or at a given end, a word has eight bytes, and no scan
/// looks further ahead than `PaddedBuffer.padding`. Debug builds check every index. Valid until the
/// underlying buffer changes.
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

    /// Returns eight bytes as a little-endian number.
    @inlinable @inline(__always) package func word(_ index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count + PaddedBuffer.padding)
        return unsafe UnsafeRawPointer(base + index).loadUnaligned(as: UInt64.self).littleEndian
    }

    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the range was checked, and memchr reads no further.
        guard let found = unsafe memchr(base + range.lowerBound, Int32(byte), range.count) else {
            return nil
        }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    package func lastIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var index = range.upperBound
        while index > range.lowerBound {
            index -= 1
            if self[index] == byte { return index }
        }
        return nil
    }

    /// Calls `body` with a range as a span.
    @inline(__always) package func withSpan<Result>(
        _ range: Range<Int>, _ body: (Span<UInt8>) -> Result
    ) -> Result {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the bytes stay in place during the call.
        let buffer = unsafe UnsafeBufferPointer(
            start: base + range.lowerBound, count: range.count)
        return body(unsafe buffer.span)
    }

    package func copy(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        append(range, to: &bytes)
        return bytes
    }

    package func append(_ range: Range<Int>, to array: inout [UInt8]) {
        assert(range.lowerBound >= 0 && range.upperBound <= count + PaddedBuffer.padding)
        // Sound: the range was checked, and the bytes stay in place during the call.
        let buffer = unsafe UnsafeBufferPointer(
            start: base + range.lowerBound, count: range.count)
        unsafe array.append(contentsOf: buffer)
    }

    /// Whether `size` bytes at `index` equal those at `otherIndex` of `other`.
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

    /// Returns a mask with bit 7 set in each byte of `word` that equals `byte`. Exact only up to
    /// and including the first match.
    @inline(__always) package static func places(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ UInt64(byte) &* 0x0101_0101_0101_0101
        return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
    }

    /// Whether `text` is at `index` and ends by `end`.
    package func starts(with text: StaticString, at index: Int, end: Int) -> Bool {
        guard end - index >= text.utf8CodeUnitCount else { return false }
        // Sound: the loop ends where the text does, and the range was checked above.
        for offset in 0..<text.utf8CodeUnitCount
        where unsafe self[index + offset] != text.utf8Start[offset] {
            return false
        }
        return true
    }

    /// Returns a hash of a range for the parsers' tables; eight bytes per step.
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

    /// Returns the index of the first invalid UTF-8 sequence, or nil.
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

    /// Returns the size of the multi-byte scalar at `index`; 0 if it is invalid (Unicode 15, table
    /// 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
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

/// A growing byte buffer with the tail that `PaddedBytes` relies on.
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

    /// Removes bytes from the front and moves the rest.
    package mutating func removeFirst(_ size: Int) {
        precondition(size >= 0 && size <= count, "more bytes to remove than there are")
        // Sound: both ranges lie inside the allocation; memmove allows overlap.
        unsafe memmove(base, base + size, count - size)
        count -= size
        sealTail()
    }

    /// Keeps the first `size` bytes.
    package mutating func truncate(to size: Int) {
        precondition(size >= 0 && size <= count, "more bytes to keep than there are")
        count = size
        sealTail()
    }

    /// Reserves `size` more bytes, lets `body` write to them, and keeps what it wrote.
    ///
    /// - Parameter body: returns how many bytes it wrote.
    package mutating func append<Failure: Error>(
        upTo size: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        reserve(size)
        // Sound: `reserve` made room for `size` bytes after the last one.
        let room = unsafe UnsafeMutableRawBufferPointer(start: base + count, count: size)
        let written = try unsafe body(room)
        precondition(written >= 0 && written <= size, "more bytes written than there was room for")
        count += written
        sealTail()
    }

    package mutating func append(_ source: Span<UInt8>) {
        unsafe append(upTo: source.count) { target in
            // Sound: `target` has room for exactly this many bytes.
            unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            return source.count
        }
    }

    /// Appends a copy of a range of the buffer.
    package mutating func append(from range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the buffer")
        reserve(range.count)
        // Sound: checked above; the copy goes after the last byte.
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
