// Names as keys. Swift's String equality ignores Unicode normalisation; names here are bytes.

/// A name of an experiment, tag or field, compared and ordered by its UTF-8 bytes.
struct Name: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Name, right: Name) -> Bool {
        // Most names that differ do so in their length already.
        // Strings with the same bytes are equal, and those that are not differ soon, or at once.
        left.text.utf8.count == right.text.utf8.count && left.text == right.text
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    }

    static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
