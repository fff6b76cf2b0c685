// From the query engine's typed columns to the cells of an output format.

internal import CozDB

/// Feeds a format with an answer, and remembers what went wrong and how long formatting took.
struct FormatSink: QueryResultSink {
    private let format: any ResultFormat
    private let output: OutputWriter
    private let schemas: [ExperimentSchema]
    private let needsIdentity: Bool
    private var isInSeries = false
    /// The experiment of the statement's first series.
    private var firstName: String?
    private var header = ResultHeader()
    private var isTime: [Bool] = []
    /// Those of the series begun last.
    private var seriesColumns: [ResultColumn] = []
    /// Statements begun so far.
    private(set) var statements = 0
    /// The first statement that failed decides the exit status.
    private(set) var firstError: DatabaseError?
    /// Time spent in the format, writing included.
    private(set) var formatting = Duration.zero

    /// - Parameters:
    ///   - schemas: of all experiments; they tell tags from fields.
    ///   - needsIdentity: whether rows without their identity tags are useless (line protocol).
    init(
        _ format: any ResultFormat, _ output: OutputWriter, schemas: [ExperimentSchema],
        needsIdentity: Bool
    ) {
        self.format = format
        self.output = output
        self.schemas = schemas
        self.needsIdentity = needsIdentity
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        statements += 1
        firstName = nil
        format.beginStatement(index)
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        let columns = header.columns
        header = ResultHeader()
        header.name = series.name
        // Answers of SHOW, which have no time, list several experiments as a rule; those of
        // SELECT only where FROM names several.
        let isTimed = series.columns.first?.isTime == true
        if firstName == nil { firstName = series.name }
        header.showsName = !series.name.isEmpty && (!isTimed || firstName != series.name)
        header.tags = series.tags
        // The series of a statement share their columns, and the formats what they make of them.
        if series.columns == seriesColumns {
            header.columns = columns
        } else {
            header.columns = series.columns.map { FormatSink.column($0) }
            seriesColumns = series.columns
            isTime = series.columns.map(\.isTime)
        }
        if needsIdentity {
            try checkIdentity(schemas.first { $0.name.utf8.elementsEqual(series.name.utf8) })
        }
        if let zone = series.zone {
            header.zoneOffset = { zone.offsetSeconds(at: Timestamp(nanoseconds: $0)) }
        }
        isInSeries = true
        format.beginSeries(header)
    }

    private static func column(_ column: ResultColumn) -> ResultHeader.Column {
        if column.isTime { return .init(title: column.name, kind: .time, source: nil) }
        if let tag = column.tag {
            return .init(title: column.name, kind: .tag, source: tag)
        }
        return .init(title: column.name, kind: .field(column.type), source: nil)
    }

    /// Rows that lost their identity would be merged when they are imported again.
    private func checkIdentity(_ schema: ExperimentSchema?) throws(DatabaseError) {
        guard let schema else {
            throw DatabaseError(
                .usage,
                "--format lp: found an answer that belongs to no experiment, expected rows of one")
        }
        let columns = header.columns.filter { if case .tag = $0.kind { true } else { false } }
        let names = header.tags.map(\.name) + columns.map { $0.source ?? $0.title }
        for tag in schema.identityTags
        where !names.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) {
            throw DatabaseError(
                .usage,
                "--format lp: found rows without \"\(tag)\", which tells them apart; add it to the "
                    + "SELECT list, or GROUP BY it")
        }
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        // Nobody is left to read the rest.
        if output.isClosed { throw FormatSink.readerLeft }
        let start = ContinuousClock.now
        format.rows(batch, isTime: isTime)
        formatting += ContinuousClock.now - start
    }

    mutating func endSeries() throws(DatabaseError) {
        isInSeries = false
        format.endSeries()
    }

    /// A statement that fails in the middle of a series ends there.
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if isInSeries { try endSeries() }
        if firstError == nil { firstError = error }
        format.endStatement(error: error?.message)
    }

    /// Ends a query whose answer nobody reads any more; not an error of the command.
    static let readerLeft = DatabaseError(.cancelled, "standard output was closed")
}

extension ExperimentSchema {
    /// Tags that every row has; none where all tags are the identity.
    fileprivate var identityTags: [String] {
        switch identity {
        case .participant(let tag): [tag]
        case .tags(let names): names
        case .allTags: []
        }
    }
}
