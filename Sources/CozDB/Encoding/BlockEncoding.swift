// Encoding codes as stored on disk; docs/format/encodings.md. The entry points of this folder are
// BlockEncoder and BlockDecoder.

/// The encoding of a block. Codes are stored on disk and never change.
enum BlockEncoding: UInt8, CaseIterable {
    /// All values are equal. Also used for empty blocks.
    case constant = 1
    /// The smallest value, and bit-packed differences to it divided by their common divisor.
    case bitPacked = 2
    /// The first value, and bit-packed differences of neighbors.
    case delta = 3
    /// Runs of equal values.
    case runLength = 4
    /// Floats as integers and a power of ten.
    case decimal = 5
    /// Raw 64-bit words.
    case words = 6
    /// Another encoding, compressed with LZ4.
    case compressed = 7
    /// A few values stored separately, and another encoding of the rest.
    case patched = 8
    /// The distinct values, and for each value its index among them.
    case distinct = 9
    /// A reference: equal to another field at the same rows, with exceptions.
    case same = 10
    /// Packed times as differences to their row times.
    case rowTime = 11
    /// Values of several kinds, each kind in its own encoding.
    case mixed = 12

    /// Whether decoding needs other blocks of the segment.
    var isReference: Bool { self == .same || self == .rowTime }
}

/// Maximum number of values in a block.
let blockValueCountMax = 1 << 20
