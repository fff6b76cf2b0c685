// Names compared by bytes. Swift's String equality compares normalized text instead.

/// The name of an experiment, tag or field, compared and ordered by its UTF-8 bytes.
package struct Name: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: Name, right: Name) -> Bool {
        let (left, right) = (left.text.utf8, right.text.utf8)
        let (leftBytes, rightBytes) = (left.span, right.span)
        // Most different names differ in length.
        guard leftBytes.count == rightBytes.count else { return false }
        for index in leftBytes.indices where leftBytes[index] != rightBytes[index] { return false }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
    }

    package static func < (left: Name, right: Name) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
