// Bounds on the search for the smallest encoding.

/// How many encodings a writer tries.
enum EncodingEffort {
    /// All.
    case thorough
    /// Those that one pass over the values and a sample can decide. For segments that will soon be
    /// merged.
    case quick
}

/// Limits of a search for the smallest encoding.
struct EncodingSearch {
    var effort = EncodingEffort.thorough
    /// A plan that certainly exceeds this size is abandoned; its reported size is then any larger
    /// number. `max` computes the exact size of every candidate.
    var sizeBytesMax = Int.max

    /// Returns the search with a lower size limit, after a candidate was found.
    func limited(to sizeBytes: Int) -> EncodingSearch {
        guard sizeBytesMax < .max else { return self }
        return EncodingSearch(effort: effort, sizeBytesMax: min(sizeBytesMax, sizeBytes))
    }

    /// Returns the search for a part of a block whose other parts take `sizeBytes`.
    func beside(_ sizeBytes: Int) -> EncodingSearch {
        guard sizeBytesMax < .max else { return self }
        return EncodingSearch(effort: effort, sizeBytesMax: max(0, sizeBytesMax - sizeBytes))
    }
}
