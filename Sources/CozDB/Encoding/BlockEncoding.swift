// The codes of encodings as they are stored on disk; docs/format/encodings.md. BlockEncoder and
// BlockDecoder are the entry points of this folder for blocks of values.

/// How the bytes of a block hold its values. Codes are stored on disk and never renumbered.
enum BlockEncoding: UInt8, CaseIterable {
    /// All values are equal; also blocks without values.
    case constant = 1
    /// Smallest value and packed differences to it, divided by what they have in common.
    case bitPacked = 2
    /// First value and packed differences of neighbours.
    case delta = 3
    /// Runs of equal values.
    case runLength = 4
    /// Doubles as integers and a power of ten.
    case decimal = 5
    /// 64-bit words as they are.
    case words = 6
    /// Another encoding, LZ4 over it.
    case compressed = 7
    /// A few values apart, another encoding of what is left.
    case patched = 8
    /// The distinct values, and for each value its number among them.
    case distinct = 9
    /// What another field has at the same rows, but for some values.
    case same = 10
    /// Texts of times as differences to the times of their rows.
    case rowTime = 11
    /// Values of a few kinds, each kind in an encoding of its own.
    case mixed = 12

    /// Whether the bytes mean something only beside other blocks of their segment.
    var isReference: Bool { self == .same || self == .rowTime }
}

/// Most values that one block can have.
let blockValueCountMax = 1 << 20
