// Bit packing of fixed-width integers; docs/format/encodings.md, "Bit packing".
//
// Full groups of 1024 values are laid out for SIMD: 16 lanes of 64-bit words, value i in lane i %
// 16 at bit (i / 16) * width of that lane. This keeps the order of values. The remaining values are
// packed as one bit stream, so that small blocks do not pay for empty lanes.

#if _endian(big)
#error("the kernels load little-endian words as they are")
#endif

/// Number of values in a SIMD group.
let packedGroupCount = 1024
private typealias Lanes = SIMD16<UInt64>

/// Returns the number of bits needed for `value`.
@inline(__always)
func bitWidth(_ value: UInt64) -> Int {
    64 - value.leadingZeroBitCount
}

/// Returns the size of `count` packed values of `width` bits.
func packedSizeBytes(count: Int, width: Int) -> Int {
    (count * width + 7) / 8
}

/// Appends the low `width` bits of each value.
func packBits(_ values: Span<UInt64>, width: Int, into writer: inout ByteWriter) {
    precondition((0...64).contains(width), "a width is 0 to 64 bits")
    let size = packedSizeBytes(count: values.count, width: width)
    guard size > 0 else { return }
    let count = values.count
    // Sound: the output has room for `size` bytes, the total that the kernels write. A group writes
    // 128 * width bytes; the stream writes its bits rounded up to bytes.
    unsafe values.withUnsafeBufferPointer { source in
        writer.bytes.append(addingCapacity: size) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                var target = UnsafeMutableRawPointer(buffer.baseAddress!)
                var source = source.baseAddress!
                for _ in 0..<(count / packedGroupCount) {
                    unsafe packGroup(source, width: width, into: target)
                    unsafe source += packedGroupCount
                    unsafe target += 128 * width
                }
                unsafe packStream(
                    source, count: count % packedGroupCount, width: width, into: target)
                initializedCount = size
            }
        }
    }
}

/// Unpacks `count` values and appends them, with `base` added to each.
///
/// - Parameter bytes: Exactly `packedSizeBytes(count:width:)` bytes.
func unpackBits(
    _ bytes: Span<UInt8>, count: Int, width: Int, adding base: UInt64,
    appendTo words: inout [UInt64]
) {
    precondition((0...64).contains(width), "a width is 0 to 64 bits")
    precondition(
        bytes.count == packedSizeBytes(count: count, width: width), "wrong size of packed bits")
    guard count > 0 else { return }
    guard width > 0 else {
        appendRepeated(base, count: count, to: &words)
        return
    }
    // Sound: the checks above ensure that the bytes hold `count` values, and the output has room
    // for as many. A group reads 128 * width bytes; the stream reads its bits rounded up to bytes.
    unsafe bytes.withUnsafeBufferPointer { source in
        words.append(addingCapacity: count) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                var source = unsafe UnsafeRawPointer(source.baseAddress!)
                var target = buffer.baseAddress!
                for _ in 0..<(count / packedGroupCount) {
                    unsafe unpackGroup(source, width: width, adding: base, into: target)
                    unsafe source += 128 * width
                    unsafe target += packedGroupCount
                }
                unsafe unpackStream(
                    source, count: count % packedGroupCount, width: width, adding: base,
                    into: target)
                initializedCount = count
            }
        }
    }
}

/// Appends one value `count` times.
func appendRepeated(_ value: UInt64, count: Int, to words: inout [UInt64]) {
    words.append(addingCapacity: count) { output in
        // Sound: the buffer has room for the `count` values requested.
        unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
            unsafe buffer.initialize(repeating: value)
            initializedCount = count
        }
    }
}

@inline(__always)
private func mask(_ width: Int) -> UInt64 {
    width == 64 ? .max : 1 << UInt64(width) - 1
}

// MARK: Groups

/// Reads 1024 values and writes 128 * width bytes.
private func packGroup(
    _ source: UnsafePointer<UInt64>, width: Int, into target: UnsafeMutableRawPointer
) {
    let source = unsafe UnsafeRawPointer(source)
    let mask = Lanes(repeating: mask(width))
    var pending = Lanes.zero
    var filled = 0
    var target = unsafe target
    for row in 0..<64 {
        let lanes = unsafe source.loadUnaligned(fromByteOffset: row * 128, as: Lanes.self) & mask
        pending |= lanes &<< Lanes(repeating: UInt64(filled))
        filled += width
        if filled >= 64 {
            unsafe target.storeBytes(of: pending, as: Lanes.self)
            unsafe target += 128
            filled -= 64
            // The remaining bits start the next words. A shift by 64 would wrap to one by 0.
            pending = filled == 0 ? .zero : lanes &>> Lanes(repeating: UInt64(width - filled))
        }
    }
}

/// Reads 128 * width bytes and writes 1024 values. The width is 1 to 64.
private func unpackGroup(
    _ source: UnsafeRawPointer, width: Int, adding base: UInt64,
    into target: UnsafeMutablePointer<UInt64>
) {
    let target = UnsafeMutableRawPointer(target)
    let mask = Lanes(repeating: mask(width))
    let base = Lanes(repeating: base)
    var bit = 0
    for row in 0..<64 {
        let offset = (bit >> 6) * 128
        let shift = bit & 63
        var lanes = unsafe source.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
        lanes = lanes &>> Lanes(repeating: UInt64(shift))
        if shift + width > 64 {
            let next = unsafe source.loadUnaligned(fromByteOffset: offset + 128, as: Lanes.self)
            lanes |= next &<< Lanes(repeating: UInt64(64 - shift))
        }
        lanes = (lanes & mask) &+ base
        unsafe target.storeBytes(of: lanes, toByteOffset: row * 128, as: Lanes.self)
        bit += width
    }
}

// MARK: Streams

private func packStream(
    _ source: UnsafePointer<UInt64>, count: Int, width: Int, into target: UnsafeMutableRawPointer
) {
    let mask = mask(width)
    var pending: UInt64 = 0
    var filled = 0
    var target = unsafe target
    for index in 0..<count {
        let value = unsafe source[index] & mask
        pending |= value &<< UInt64(filled)
        filled += width
        if filled >= 64 {
            unsafe target.storeBytes(of: pending, as: UInt64.self)
            unsafe target += 8
            filled -= 64
            pending = filled == 0 ? 0 : value &>> UInt64(width - filled)
        }
    }
    while filled > 0 {
        unsafe target.storeBytes(of: UInt8(truncatingIfNeeded: pending), as: UInt8.self)
        unsafe target += 1
        pending >>= 8
        filled -= 8
    }
}

/// Reads count * width bits, rounded up to bytes. The width is 1 to 64.
private func unpackStream(
    _ source: UnsafeRawPointer, count: Int, width: Int, adding base: UInt64,
    into target: UnsafeMutablePointer<UInt64>
) {
    let size = packedSizeBytes(count: count, width: width)
    let mask = mask(width)
    // A value of up to 64 bits spans at most nine bytes. Values whose nine bytes are inside the
    // source are loaded directly; the others are in the last eight bytes.
    let direct = size < 9 ? 0 : min(count, ((size - 9) * 8 + 7) / width + 1)
    var bit = 0
    if width <= 57 {
        for index in 0..<direct {
            let word = unsafe source.loadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self)
            unsafe target[index] = (word &>> UInt64(bit & 7)) & mask &+ base
            bit += width
        }
    } else {
        for index in 0..<direct {
            let word = unsafe source.loadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self)
            let ninth = unsafe source.load(fromByteOffset: bit >> 3 + 8, as: UInt8.self)
            let shift = UInt64(bit & 7)
            // Shift twice, because a shift by 64 would wrap to one by 0.
            let high = (UInt64(ninth) &<< 1) &<< (63 - shift)
            unsafe target[index] = (word &>> shift | high) & mask &+ base
            bit += width
        }
    }
    let start = bit >> 3
    var rest: UInt64 = 0
    for offset in start..<max(start, size) {
        let byte = unsafe source.load(fromByteOffset: offset, as: UInt8.self)
        rest |= UInt64(byte) &<< UInt64((offset - start) * 8)
    }
    bit -= start * 8
    for index in direct..<count {
        unsafe target[index] = (rest &>> UInt64(bit)) & mask &+ base
        bit += width
    }
}
