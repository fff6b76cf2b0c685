// One series of a subquery whose rows are all kept.

/// The materialized rows of a subquery's series, by ascending time. A class, because lists of
/// series are copied.
final class MaterializedSeries: Sendable {
    let name: String
    /// Tags without a value are left out: with thousands of dimensions, each series has few.
    let tags: [(name: String, value: String)]
    let times: [Int64]
    let columns: RowColumns

    init(
        name: String, tags: [(name: String, value: String)], times: [Int64], columns: RowColumns
    ) {
        self.name = name
        self.tags = tags
        self.times = times
        self.columns = columns
    }
}
