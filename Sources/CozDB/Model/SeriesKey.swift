// The identity of a series: its identity tags in one canonical byte string.

/// The identity tags of one series, sorted by tag name.
///
/// Two keys are equal if and only if their tags are. Keys sort by tag names and values, byte by
/// byte, as InfluxDB sorts series; results list series in this order.
///
/// Encoding: for each tag, name then value, each with 0x00 escaped as 0x00 0x02 and terminated by
/// 0x00 0x01. A key without tags is empty. The terminator sorts before every continuation, so
/// comparing bytes compares tags. The bytes are valid UTF-8.
public struct SeriesKey: Hashable, Comparable, Sendable {
    /// The canonical form described above.
    public let bytes: [UInt8]

    /// Wraps bytes that are known to be canonical, such as those of a verified file.
    init(canonical bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a key.
    ///
    /// - Parameter tags: Names and values in any order; names must be unique.
    public init(tags: [(name: String, value: String)]) {
        var bytes: [UInt8] = []
        for tag in tags.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            SeriesKey.append(tag.name.utf8, to: &bytes)
            SeriesKey.append(tag.value.utf8, to: &bytes)
        }
        self.bytes = bytes
    }

    /// The tags, sorted by name.
    public var tags: [(name: String, value: String)] {
        var words = SeriesKey.words(bytes)
        if words.count % 2 != 0 { words.append("") }
        return stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
    }

    /// Returns the value of a tag; nil if the series does not have it.
    public func value(of name: String) -> String? {
        var start = 0
        while start < bytes.count {
            let valueStart = SeriesKey.wordEnd(bytes, from: start)
            let end = SeriesKey.wordEnd(bytes, from: valueStart)
            if isWord(name, in: start..<valueStart) {
                let text = bytes[valueStart..<max(valueStart, end - 2)]
                // Usually there are no escapes.
                if !text.contains(0) { return String(decoding: text, as: UTF8.self) }
                return SeriesKey.words(Array(bytes[valueStart..<end])).first ?? ""
            }
            start = end
        }
        return nil
    }

    /// Whether these bytes are the canonical form of a name or value.
    private func isWord(_ word: String, in range: Range<Int>) -> Bool {
        var index = range.lowerBound
        for byte in word.utf8 {
            guard index < range.upperBound, bytes[index] == byte else { return false }
            // 0x00 is escaped as two bytes.
            index += byte == 0 ? 2 : 1
        }
        return index == range.upperBound - 2
    }

    /// Whether the series has a tag with this value.
    ///
    /// - Parameter tag: The key of a series that has only this tag.
    func contains(_ tag: SeriesKey) -> Bool {
        if bytes.count <= tag.bytes.count { return bytes == tag.bytes }
        let (all, wanted) = (bytes.span, tag.bytes.span)
        var start = 0
        while start + wanted.count <= all.count {
            var same = 0
            while same < wanted.count, all[start + same] == wanted[same] { same += 1 }
            if same == wanted.count { return true }
            // Advance to the next tag, after the terminators of name and value.
            var endCount = 0
            while endCount < 2, start + 1 < all.count {
                if all[start] == 0, all[start + 1] == 1 { endCount += 1 }
                start += all[start] == 0 ? 2 : 1
            }
            if endCount < 2 { return false }
        }
        return false
    }

    /// The tag names in canonical form. Equal names have equal bytes.
    var nameBytes: [UInt8] {
        var names: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let valueStart = SeriesKey.wordEnd(bytes, from: start)
            names.append(contentsOf: bytes[start..<valueStart])
            start = SeriesKey.wordEnd(bytes, from: valueStart)
        }
        return names
    }

    /// Returns the offset after a name or value.
    private static func wordEnd(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index + 1 < bytes.count {
            if bytes[index] != 0 {
                index += 1
            } else if bytes[index + 1] == 1 {
                return index + 2
            } else {
                index += 2
            }
        }
        return bytes.count
    }

    /// Whether the left key sorts first, byte by byte.
    public static func < (left: SeriesKey, right: SeriesKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Appends a name or value in canonical form.
    static func append(_ word: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        for byte in word {
            bytes.append(byte)
            if byte == 0 { bytes.append(2) }
        }
        bytes.append(0)
        bytes.append(1)
    }

    private static func words(_ bytes: [UInt8]) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] != 0 || index + 1 == bytes.count {
                word.append(bytes[index])
                index += 1
                continue
            }
            if bytes[index + 1] == 2 {
                word.append(0)
            } else {
                words.append(String(decoding: word, as: UTF8.self))
                word.removeAll(keepingCapacity: true)
            }
            index += 2
        }
        return words
    }
}
