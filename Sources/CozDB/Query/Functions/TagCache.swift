// Reads many tags of one series in linear time.

/// What has the tags of a series.
protocol SeriesTags {
    /// Returns the value of a tag; empty if the series does not have it.
    func tag(_ name: String) -> String
    var tags: [(name: String, value: String)] { get }
}

extension SeriesKey: SeriesTags {
    func tag(_ name: String) -> String { value(of: name) ?? "" }
}

/// A cache for reading many tags of one series.
struct TagCache<Tags: SeriesTags> {
    /// The number of linear searches before the cache is built. Most statements read few tags.
    private static var searchedCountMax: Int { 32 }

    private let series: Tags
    private var searchedCount = 0
    private var known: [Name: String] = [:]

    init(_ series: Tags) {
        self.series = series
    }

    /// Returns the value of a tag; empty if the series does not have it.
    mutating func value(of name: String) -> String {
        if searchedCount < TagCache.searchedCountMax {
            searchedCount += 1
            return series.tag(name)
        }
        if searchedCount == TagCache.searchedCountMax {
            searchedCount += 1
            // If a name has two values, the first wins, as in `tag`.
            for tag in series.tags.reversed() { known[Name(tag.name)] = tag.value }
        }
        return known[Name(name)] ?? ""
    }
}
