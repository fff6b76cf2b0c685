// A SELECT whose names have been looked up: what the executor runs.

/// A column that the statement needs from its sources, by number.
struct PlannedReference: Sendable {
    var name: String
    var kind: ReferenceKind
    /// The type its values have here, whatever they are in each source; nil if nobody knows it.
    var type: FieldType?
    /// Whether it is a tag wherever it is known.
    var isTag: Bool
    /// Where it first stands in the text.
    var offset = 0
    /// How it is computed, where it is no column of the sources; its name is then its text.
    var computation: Computation?

    /// What other references, those before it, say of a value.
    enum Computation: Sendable {
        /// From the columns of the row.
        case row(Evaluation)
        /// From the rows of the series.
        case series(SeriesFunction)
    }
}

/// What tells references apart that are not computed.
struct ReferenceKey: Hashable {
    var name: Name
    var kind: ReferenceKind
}

/// What a name is in one source.
enum Binding: Sendable {
    /// A field or attribute of an experiment.
    case column(ColumnID, isTag: Bool)
    /// A tag that has one value for the whole series.
    case tag(String)
    /// A column of a subquery.
    case output(Int)
    /// Computed from other references, or from the time of the row.
    case computed
    case missing
}

/// One item of FROM.
struct PlannedSource {
    enum Origin {
        case experiment(ExperimentView)
        case subquery(SelectPlan)
    }

    var origin: Origin
    /// Counts from 0 over the statement and all its subqueries.
    var number = 0
    /// What each reference of the plan is here.
    var bindings: [Binding]
    /// What each dimension of the plan is here.
    var dimensions: [Binding]
    /// WHERE without its bounds of time.
    var condition: Evaluation?
}

/// A call at the heart of a column: an aggregate, or a field's points, then transformed.
struct PlannedCall {
    /// As the statement writes it.
    var text = ""
    /// Nil: the points themselves.
    var aggregate: Aggregate?
    /// The reference it reads.
    var argument: Int
    /// Percentile, or number of points of sample, top and bottom, or nanoseconds of a unit.
    var parameter = 0.0
    /// References by which top and bottom tell points apart.
    var distinguishing: [Int] = []
    /// The innermost first.
    var transformations: [Transformation] = []
    /// Type of its values; nil when nothing can come.
    var type: FieldType?
}

/// One column of the answer.
struct PlannedColumn {
    var name: String
    /// Its name before it was made unique: what a statement around this one calls it.
    var baseName: String
    var type: FieldType?
    /// Whether it shows a tag: to wildcards of a statement around this one it is no field.
    var isTag = false
    /// Columns are the references, then the calls.
    var evaluation: Evaluation
}

/// One item of GROUP BY that is no time.
struct PlannedDimension {
    var name: String
    var kind: ReferenceKind
    var offset = 0
    /// How a group is computed that is no tag or field.
    var function: DimensionFunction?
}

/// A SELECT as it is run.
///
/// Unchecked: nobody changes a plan once the planner has made it.
final class SelectPlan: @unchecked Sendable {
    var sources: [PlannedSource] = []
    var references: [PlannedReference] = []
    /// Numbers of the references that are not computed.
    var numbers: [ReferenceKey: Int] = [:]
    var calls: [PlannedCall] = []
    var columns: [PlannedColumn] = []
    /// The first column of each name; once a statement around it asks.
    private var columnPlaces: [Name: Int] = [:]
    /// Functions of series, with the numbers of their references.
    var seriesFunctions: [(index: Int, function: SeriesFunction)] = []
    /// References that columns read beside calls.
    var auxiliary: [Int] = []
    /// Sorted by name.
    var dimensions: [PlannedDimension] = []
    /// Names of dimensions that the statement itself has, not the one around it.
    var ownDimensions: Set<Name> = []
    var timeName = "time"
    var zone: TimeZoneRules?
    /// Whether the range ends when the statement was planned, here or in a subquery.
    var endsNow = false

    /// Half open.
    var range = TimeRange.all
    var hasLowerBound = false
    var hasUpperBound = false
    var buckets: TimeBuckets?
    var fill = Fill.null
    var isAscending = true
    var limits = Limits()

    /// The column that a statement around this one means by a name. Asked while planning.
    func column(named name: String) -> Int? {
        if columnPlaces.isEmpty {
            for (index, column) in columns.enumerated().reversed() {
                columnPlaces[Name(column.baseName)] = index
            }
        }
        return columnPlaces[Name(name)]
    }

    /// Whether the answer is stored rows rather than something computed from many.
    var isRaw: Bool { calls.isEmpty }

    /// Whether rows say something of their series, so that it has to be read as a whole.
    var hasSeriesFunctions: Bool { !seriesFunctions.isEmpty }

    /// References with all those that they are computed from.
    func closure(_ wanted: Set<Int>) -> Set<Int> {
        var all = wanted
        for index in references.indices.reversed() where all.contains(index) {
            if case .row(let evaluation)? = references[index].computation {
                all.formUnion(evaluation.referencesRead)
            }
        }
        return all
    }

    /// What a tag that a series lacks is in SELECT: null among stored rows, the empty text where a
    /// subquery groups by it.
    func value(ofTag text: String, _ source: PlannedSource) -> FieldValue? {
        if case .experiment = source.origin, text.isEmpty { return nil }
        return .string(text)
    }

    /// Whether a reference means a tag in all sources that know it, also one that a subquery
    /// selects.
    func isTagEverywhere(_ reference: Int) -> Bool {
        if references[reference].computation != nil { return false }
        var isKnown = false
        for source in sources {
            switch (source.bindings[reference], source.origin) {
            case (.column(_, let isTag), _) where !isTag: return false
            case (.output(let column), .subquery(let inner)) where !inner.columns[column].isTag:
                return false
            case (.missing, _): continue
            default: isKnown = true
            }
        }
        return isKnown
    }

    /// Whether a reference can have values of its own in a source: tags alone make no rows.
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

    /// The one selector whose point gives the row its time and other columns.
    var singleSelector: Bool {
        calls.count == 1 && calls[0].aggregate?.isSelector == true
            && calls[0].transformations.isEmpty
    }
}
