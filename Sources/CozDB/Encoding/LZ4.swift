// LZ4 blocks. The only user of liblz4. Callers store the sizes.

internal import CozLZ4

enum LZ4 {
    /// Appends the compressed bytes if they take at most `sizeMax` and the ratio is one that
    /// `decompress` accepts.
    ///
    /// - Returns: Whether the bytes were appended.
    static func compress(
        _ source: Span<UInt8>, sizeMax: Int, into writer: inout ByteWriter
    ) -> Bool {
        guard sizeMax > 0, !source.isEmpty, source.count <= sourceSizeBytesMax else { return false }
        var size = 0
        // Sound: liblz4 reads `count` bytes and writes at most `sizeMax`; both buffers are that
        // large.
        unsafe source.withUnsafeBufferPointer { input in
            writer.bytes.append(addingCapacity: sizeMax) { output in
                unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                    let start = unsafe UnsafeRawPointer(input.baseAddress!)
                    let written = unsafe LZ4_compress_default(
                        start.assumingMemoryBound(to: CChar.self),
                        UnsafeMutableRawPointer(buffer.baseAddress!).assumingMemoryBound(
                            to: CChar.self),
                        CInt(input.count), CInt(min(sizeMax, sourceSizeBytesMax)))
                    size = isPlausible(source.count, compressed: Int(written)) ? Int(written) : 0
                    initializedCount = size
                }
            }
        }
        return size > 0
    }

    /// Appends the original bytes, which must be exactly `size`.
    ///
    /// - Parameter limit: Maximum size to allocate.
    static func decompress(
        _ source: Span<UInt8>, size: Int, limit: Int, appendTo target: inout [UInt8]
    ) throws(FormatError) {
        guard size >= 0, size <= min(limit, sourceSizeBytesMax) else {
            throw FormatError(
                .invalid, "found an original size of \(size) bytes, expected at most \(limit)",
                at: 0)
        }
        // LZ4 expands at most 255 times, so small input cannot make this allocate much memory.
        guard !source.isEmpty, source.count <= sourceSizeBytesMax, size / 255 <= source.count,
            isPlausible(size, compressed: source.count)
        else {
            throw FormatError(
                .invalid,
                "found \(source.count) compressed bytes for an original size of "
                    + "\(size), which is impossible", at: 0)
        }
        var found = 0
        // Sound: liblz4 checks its input, reads `count` bytes and writes at most `size`.
        unsafe source.withUnsafeBufferPointer { input in
            target.append(addingCapacity: size) { output in
                unsafe output.withUnsafeMutableBufferPointer { buffer, initializedCount in
                    found = unsafe decompress(input, into: buffer)
                    initializedCount = max(0, found)
                }
            }
        }
        guard found == size else {
            target.removeLast(max(0, found))
            throw FormatError(
                .invalid, "LZ4 data is corrupt; expected \(size) decompressed bytes", at: 0)
        }
    }

    /// Whether the compression ratio is plausible, so that a corrupt file of a few megabytes cannot
    /// request a gigabyte. Data with a higher ratio is stored uncompressed.
    private static func isPlausible(_ original: Int, compressed: Int) -> Bool {
        original <= plausibleSizeBytes || original / plausibleRatio <= compressed
    }

    /// Up to this original size every ratio is accepted.
    static let plausibleSizeBytes = 64 << 20
    /// Maximum ratio of larger data.
    static let plausibleRatio = 32

    /// Maximum size that liblz4 accepts, in either direction.
    private static let sourceSizeBytesMax = 0x7E00_0000

    private static func decompress(
        _ input: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        return unsafe Int(
            LZ4_decompress_safe(
                UnsafeRawPointer(input.baseAddress!).assumingMemoryBound(to: CChar.self),
                UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self),
                CInt(input.count), CInt(buffer.count)))
    }
}
