// How far the search for the smallest encoding goes.

/// How many encodings a writer looks at.
enum EncodingEffort {
    /// All of them.
    case thorough
    /// Those that one pass over the values and a sample decide: for segments that a merge will soon
    /// write anew.
    case quick
}

/// What a search for the smallest encoding may leave out.
struct EncodingSearch {
    var effort = EncodingEffort.thorough
    /// Plans that take more bytes than this for certain are given up, and then have any size above
    /// it. `max` is for those who want to know the size of every candidate.
    var sizeBytesMax = Int.max

    /// The same after a candidate of so many bytes was found.
    func limited(to sizeBytes: Int) -> EncodingSearch {
        guard sizeBytesMax < .max else { return self }
        return EncodingSearch(effort: effort, sizeBytesMax: min(sizeBytesMax, sizeBytes))
    }

    /// The same for a part beside which there are so many bytes.
    func beside(_ sizeBytes: Int) -> EncodingSearch {
        guard sizeBytesMax < .max else { return self }
        return EncodingSearch(effort: effort, sizeBytesMax: max(0, sizeBytesMax - sizeBytes))
    }
}
