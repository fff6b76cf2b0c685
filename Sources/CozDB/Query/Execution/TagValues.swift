// What a series has of the tags that a statement asks for.

/// Values of the tags of one series, for who asks for one after the other.
struct TagValues {
    /// So many are looked for one by one: most statements ask for few tags, of many series.
    private static let searchedCountMax = 32

    private let input: InputSeries
    private var searchedCount = 0
    private var known: [Name: String] = [:]

    init(_ input: InputSeries) {
        self.input = input
    }

    /// The value of a tag; empty where the series does not have it.
    mutating func value(of name: String) -> String {
        if searchedCount < TagValues.searchedCountMax {
            searchedCount += 1
            return input.tag(name)
        }
        if searchedCount == TagValues.searchedCountMax {
            searchedCount += 1
            // The first of one name, as `tag` finds it.
            for tag in input.tags.reversed() { known[Name(tag.name)] = tag.value }
        }
        return known[Name(name)] ?? ""
    }
}
