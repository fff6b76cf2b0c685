// The identity of a group: an experiment and the values of the dimensions.

/// The experiment name and the dimension values of a group. Groups are sorted by key.
///
/// Only values that are not empty are stored: with thousands of attributes, each row has few.
struct GroupKey: Hashable, Comparable {
    private struct DimensionValue: Hashable {
        var dimension: Int
        var text: Name
        /// Set if the dimension sorts by number.
        var number: Double?
    }

    let name: Name
    /// In ascending order of their dimensions.
    private var values: [DimensionValue] = []

    init(name: Name) {
        self.name = name
    }

    /// Sets the value of a dimension that has none. An empty text is the missing value, which sorts
    /// first.
    mutating func set(_ dimension: Int, _ text: String, number: Double? = nil) {
        guard !text.isEmpty else { return }
        let before = values.lastIndex { $0.dimension <= dimension }
        if let before, values[before].dimension == dimension { return }
        let value = DimensionValue(dimension: dimension, text: Name(text), number: number)
        values.insert(value, at: before.map { $0 + 1 } ?? 0)
    }

    /// The dimensions of a plan with the values of this group.
    func tags(_ dimensions: [PlannedDimension]) -> [(name: String, value: String)] {
        var tags = dimensions.map { (name: $0.name, value: "") }
        for value in values { tags[value.dimension].value = value.text.text }
        return tags
    }

    /// The dimensions of a plan that have a value in this group.
    func presentTags(_ plan: SelectPlan) -> [(name: String, value: String)] {
        values.map { (name: plan.dimensions[$0.dimension].name, value: $0.text.text) }
    }

    /// The approximate memory of a key.
    var sizeBytes: Int { values.reduce(100) { $0 + $1.text.text.utf8.count + 50 } }

    static func < (left: GroupKey, right: GroupKey) -> Bool {
        if left.name != right.name { return left.name < right.name }
        for (a, b) in zip(left.values, right.values) {
            // The key with a value in an earlier dimension follows the one without.
            if a.dimension != b.dimension { return a.dimension > b.dimension }
            if a.text == b.text { continue }
            if let number = a.number, let other = b.number, number != other {
                return number < other
            }
            // Integers beyond 2^53 can be equal as floats.
            if a.number != nil, let number = Int64(a.text.text), let other = Int64(b.text.text) {
                return number < other
            }
            return a.text < b.text
        }
        return left.values.count < right.values.count
    }
}
