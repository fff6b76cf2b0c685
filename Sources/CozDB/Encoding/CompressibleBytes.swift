// Optional LZ4 compression of bytes that are read as a whole: footers, the manifest.
// docs/format/encodings.md, "Compressible bytes".
//
//     form         u8       0 plain, 1 LZ4
//     size         varint   LZ4 only: size of the original bytes
//     bytes                 to the end

private enum CompressionForm: UInt8 {
    case plain = 0
    case compressed = 1
}

extension ByteWriter {
    /// Appends bytes, compressed if that saves at least an eighth.
    mutating func append(compressing original: [UInt8]) {
        let start = count
        append(CompressionForm.compressed.rawValue)
        appendVarint(original.count)
        let sizeMax = original.count - (original.count + 7) / 8
        if LZ4.compress(original.span, sizeMax: sizeMax, into: &self) { return }
        bytes.removeLast(count - start)
        append(CompressionForm.plain.rawValue)
        append(original)
    }
}

/// Returns the original bytes.
///
/// - Parameter limit: Maximum size of the original bytes.
func decompressedBytes(_ bytes: Span<UInt8>, limit: Int) throws(FormatError) -> [UInt8] {
    var reader = ByteReader(bytes)
    let form = try reader.readUInt8()
    switch CompressionForm(rawValue: form) {
    case .plain: return [UInt8](copying: try reader.readBytes(reader.remaining))
    case .compressed:
        var original: [UInt8] = []
        let size = try reader.readCount(limit: limit)
        try LZ4.decompress(
            reader.readBytes(reader.remaining), size: size, limit: limit, appendTo: &original)
        return original
    case nil:
        throw FormatError(
            .unsupported,
            "found compression form \(form), expected 0 or 1; a "
                + "newer version may be able to read it", at: 0)
    }
}
