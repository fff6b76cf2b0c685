// The texts that mean no value.

/// The texts of `TableOptions.nulls`, sorted, so that a cell costs little however many these are.
struct NullTexts {
    private let texts: [[UInt8]]

    init(_ options: ImportOptions) {
        texts = Set(options.table.nulls.map { Array($0.utf8) }).sorted {
            $0.count != $1.count ? $0.count < $1.count : $0.lexicographicallyPrecedes($1)
        }
    }

    var isEmpty: Bool { texts.isEmpty }

    func contains(_ bytes: PaddedBytes, _ range: Range<Int>) -> Bool {
        var places = texts.indices
        while !places.isEmpty {
            let middle = places.lowerBound + places.count / 2
            let order = NullTexts.order(bytes, range, texts[middle])
            if order == 0 { return true }
            places = order < 0 ? places.lowerBound..<middle : middle + 1..<places.upperBound
        }
        return false
    }

    /// Returns a negative number if the range is before the text, a positive one if it is after.
    private static func order(
        _ bytes: PaddedBytes, _ range: Range<Int>, _ text: [UInt8]
    ) -> Int {
        guard range.count == text.count else { return range.count - text.count }
        for offset in text.indices where bytes[range.lowerBound + offset] != text[offset] {
            return Int(bytes[range.lowerBound + offset]) - Int(text[offset])
        }
        return 0
    }
}
