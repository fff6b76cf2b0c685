// The plan of a SELECT with resolved names, as the executor runs it.

/// A column that the statement reads from its sources, referred to by index.
struct PlannedReference: Sendable {
    var name: String
    var kind: ReferenceKind
    /// The type of the values, regardless of their type in each source; nil if unknown.
    var type: FieldType?
    /// Whether the reference is a tag in every source that has it.
    var isTag: Bool
    /// The byte offset of its first occurrence in the text.
    var offset = 0
    /// How the value is computed if it is not a column of the sources. The name is then its text.
    var computation: Computation?
    /// Whether it is the argument of an aggregate, transformation or window. In stored rows it then
    /// has a value only where one of its fields has one.
    var isArgument = false

    /// A computation from references with lower indexes.
    enum Computation: Sendable {
        /// Computed from the columns of the row.
        case row(Evaluation)
        /// Computed from the rows of the series.
        case series(SeriesFunction)
    }
}

/// The key that identifies a reference that is not computed.
struct ReferenceKey: Hashable {
    var name: Name
    var kind: ReferenceKind
}

/// The meaning of a name in one source.
enum Binding: Sendable {
    /// A field or attribute of an experiment.
    case column(ColumnID, isTag: Bool)
    /// A tag that has one value for the whole series.
    case tag(String)
    /// A column of a subquery.
    case output(Int)
    /// A value computed from other references or from the time of the row.
    case computed
    /// Null in every row: another source has a field of the name, whose type is that of the name in
    /// the whole statement, and the value here cannot be converted to it.
    case null
    /// The source does not have the name.
    case missing

    /// The field that it reads; nil for everything else.
    var field: ColumnID? {
        if case .column(let column, isTag: false) = self { column } else { nil }
    }
}

/// One item of FROM. A class, and unchecked, like the plan: every series looks at its source.
final class PlannedSource {
    enum Origin {
        case experiment(ExperimentView)
        case subquery(SelectPlan)
    }

    let origin: Origin
    /// The index of the item, counted from 0 over the statement and all its subqueries.
    let number: Int
    /// The binding of each reference of the plan in this source.
    @safe @exclusivity(unchecked) var bindings: [Binding] = []
    /// The binding of each dimension of the plan in this source.
    @safe @exclusivity(unchecked) var dimensions: [Binding] = []
    /// The WHERE clause without its time bounds.
    @safe @exclusivity(unchecked) var condition: Evaluation?
    /// The calls that read a subquery: those whose transformations need this number of buckets
    /// before the range, where the subquery begins. Nil: all calls.
    let extraBuckets: Int64?

    init(_ origin: Origin, number: Int = 0, extraBuckets: Int64? = nil) {
        self.origin = origin
        self.number = number
        self.extraBuckets = extraBuckets
    }

    var isSubquery: Bool {
        if case .subquery = origin { true } else { false }
    }
}

/// A call in a column: an aggregate or the points of a field, followed by transformations.
struct PlannedCall {
    /// The call as written in the statement.
    var text = ""
    /// The aggregate; nil to use the points themselves.
    var aggregate: Aggregate?
    /// The reference that the call reads.
    var argument: Int
    /// The percentile, the number of points of sample, top or bottom, or a unit in nanoseconds.
    var parameter = 0.0
    /// The references that distinguish points for top and bottom.
    var distinguishing: [Int] = []
    /// The transformations, innermost first.
    var transformations: [Transformation] = []
    /// The type of the values; nil if there can be none.
    var type: FieldType?
}

/// One column of the result.
struct PlannedColumn {
    var name: String
    /// The name before it was made unique. An outer statement uses it.
    var baseName: String
    var type: FieldType?
    /// Whether the column shows a tag. Wildcards of an outer statement do not treat it as a field.
    var isTag = false
    /// The expression. Its columns are the references, followed by the calls.
    var evaluation: Evaluation
}

/// One item of GROUP BY other than time.
struct PlannedDimension {
    var name: String
    var kind: ReferenceKind
    var offset = 0
    /// The function that computes the group; nil for a tag or field.
    var function: DimensionFunction?

    var wantsField: Bool { kind != .any && kind != .tag }
}

/// The plan of a SELECT.
///
/// Unchecked, also for exclusive access, because every series reads it: a plan is immutable once
/// the planner returns it.
final class SelectPlan: @unchecked Sendable {
    @safe @exclusivity(unchecked) var sources: [PlannedSource] = []
    @safe @exclusivity(unchecked) var references: [PlannedReference] = []
    /// The indices of references that are computed, by the text of their calls.
    var computedIndices: [Name: Int] = [:]
    /// The index of each reference that is not computed.
    var numbers: [ReferenceKey: Int] = [:]
    @safe @exclusivity(unchecked) var calls: [PlannedCall] = []
    @safe @exclusivity(unchecked) var columns: [PlannedColumn] = []
    /// The first column of each name; filled when an outer statement first looks one up.
    private var columnPlaces: [Name: Int] = [:]
    /// The series functions and the indexes of their references.
    @safe @exclusivity(unchecked) var seriesFunctions: [(index: Int, function: SeriesFunction)] = []
    /// The references that columns read directly rather than through a call, ascending.
    @safe @exclusivity(unchecked) var auxiliary: [Int] = [] {
        // Here, because a check in each reader takes series times references.
        didSet { assert(zip(auxiliary, auxiliary.dropFirst()).allSatisfy(<), "not ascending") }
    }
    /// The columns that show each of these references as it is, ascending.
    @safe @exclusivity(unchecked) var columnsByReference: [Int: [Int]] = [:]
    /// The columns that show each of these calls as it is, ascending.
    @safe @exclusivity(unchecked) var columnsByCall: [Int: [Int]] = [:]
    /// All other columns, ascending.
    @safe @exclusivity(unchecked) var computedColumns: [Int] = []
    /// The dimensions, sorted by name.
    @safe @exclusivity(unchecked) var dimensions: [PlannedDimension] = []
    /// The names of the statement's own dimensions, without those of the outer statement.
    var ownDimensions: Set<Name> = []
    @safe @exclusivity(unchecked) var timeName = "time"
    @safe @exclusivity(unchecked) var zone: TimeZoneRules?
    /// Whether the range of the plan or of a subquery ends at the time of planning.
    var endsAtPlanningTime = false

    /// The time range; half open.
    @safe @exclusivity(unchecked) var range = TimeRange.all
    @safe @exclusivity(unchecked) var hasLowerBound = false
    @safe @exclusivity(unchecked) var hasUpperBound = false
    @safe @exclusivity(unchecked) var buckets: TimeBuckets?
    @safe @exclusivity(unchecked) var fill = Fill.null
    @safe @exclusivity(unchecked) var isAscending = true
    @safe @exclusivity(unchecked) var limits = Limits()

    /// Returns the column that an outer statement refers to by a name. Called only while planning.
    func column(named name: String) -> Int? {
        if columnPlaces.isEmpty {
            for (index, column) in columns.enumerated().reversed() {
                columnPlaces[Name(column.baseName)] = index
            }
        }
        return columnPlaces[Name(name)]
    }

    /// The number of bindings of all sources.
    var bindingCount: Int { sources.count * (references.count + dimensions.count) }

    /// Whether the result consists of stored rows rather than of aggregates.
    var isRaw: Bool { calls.isEmpty }

    /// Whether the statement has series functions and so must read each series as a whole.
    var hasSeriesFunctions: Bool { !seriesFunctions.isEmpty }

    /// Whether the answer is grouped by this name.
    func hasDimension(_ name: String) -> Bool {
        let place = dimensions.partitioningIndex { Name($0.name) >= Name(name) }
        return place < dimensions.count && Name(dimensions[place].name) == Name(name)
    }

    /// Returns the references and everything that they are computed from.
    func closure(_ wanted: Set<Int>) -> Set<Int> {
        var all = wanted
        var open = Array(wanted)
        while let index = open.popLast() {
            guard case .row(let evaluation)? = references[index].computation else { continue }
            for read in evaluation.referencesRead where all.insert(read).inserted {
                open.append(read)
            }
        }
        return all
    }

    /// Returns the value in SELECT of a tag that may be missing in a series: null for stored rows,
    /// the empty string if a subquery groups by it.
    func value(ofTag text: String, _ source: PlannedSource) -> FieldValue? {
        if case .experiment = source.origin, text.isEmpty { return nil }
        return .string(text)
    }

    /// Returns whether a reference is a tag in all sources that have it, including subqueries.
    func isTagEverywhere(_ reference: Int) -> Bool {
        if references[reference].computation != nil { return false }
        var isKnown = false
        for source in sources {
            switch (source.bindings[reference], source.origin) {
            case (.column(_, let isTag), _) where !isTag: return false
            case (.output(let column), .subquery(let inner)) where !inner.columns[column].isTag:
                return false
            case (.null, _), (.missing, _): continue
            default: isKnown = true
            }
        }
        return isKnown
    }

    /// Returns the tag that a reference shows, by its own name; nil for a field, and if the sources
    /// show different tags.
    func tagShown(by reference: Int) -> String? {
        guard isTagEverywhere(reference) else { return nil }
        var shown: String?
        for source in sources {
            var tag: String? = references[reference].name
            switch (source.bindings[reference], source.origin) {
            case (.null, _), (.missing, _): continue
            case (.output(let column), .subquery(let inner)):
                tag = nil
                if case .column(let index) = inner.columns[column].evaluation {
                    tag = inner.tagShown(by: index)
                }
            default: break
            }
            guard let tag, Name(shown ?? tag) == Name(tag) else { return nil }
            shown = tag
        }
        return shown
    }

    /// Returns whether a reference may have field values in a source. Tags alone produce no rows.
    func isField(_ reference: Int, _ source: PlannedSource) -> Bool {
        switch (source.bindings[reference], source.origin) {
        case (.column(_, let isTag), _): return !isTag
        case (.output, _), (.tag, .subquery): return true
        case (.computed, _):
            switch references[reference].computation {
            case .row(let evaluation)?:
                return evaluation.referencesRead.contains { isField($0, source) }
            case .series(let function)?:
                return function.arguments.contains { isField($0, source) }
            case nil: return false
            }
        default: return false
        }
    }

    /// Whether the point of a single selector determines the time and other columns of the row.
    var singleSelector: Bool {
        calls.count == 1 && calls[0].aggregate?.isSelector == true
            && calls[0].transformations.isEmpty
    }
}
