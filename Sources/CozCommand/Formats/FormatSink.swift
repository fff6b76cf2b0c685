// Passes the typed columns of the query engine to an output format.

internal import CozDB

/// Passes an answer to a format. It also records the first error and the time spent on formatting.
struct FormatSink: QueryResultSink {
    private let format: any ResultWriter
    private let output: OutputWriter
    private let schemas: [ExperimentSchema]
    private let needsIdentity: Bool
    private var isInSeries = false
    private var firstName: Name?
    private var header = ResultHeader()
    private var isTime: [Bool] = []
    /// The columns of the current series.
    private var seriesColumns: [ResultColumn] = []
    /// The experiment whose identity was checked last in the statement; nil if none was. All series
    /// of a statement have the same tags.
    private var checkedName: String?
    private(set) var statements = 0
    /// The error of the first failed statement, which decides the exit status.
    private(set) var firstError: DatabaseError?
    /// Time spent in the format, including writing.
    private(set) var formatting = Duration.zero

    /// - Parameters:
    ///   - schemas: The schemas of all experiments, which tell tags from fields.
    ///   - needsIdentity: Whether rows need their identity tags (line protocol).
    init(
        _ format: any ResultWriter, _ output: OutputWriter, schemas: [ExperimentSchema],
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
        checkedName = nil
        format.beginStatement(index)
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        let columns = header.columns
        header = ResultHeader()
        header.name = series.name
        // Answers of SHOW have no time and usually list several experiments. Answers of SELECT do
        // so only if FROM names several. A list of names, such as SHOW MEASUREMENTS, is a series
        // that only says what it lists.
        let isTimed = series.columns.first?.isTime == true
        let isList = !isTimed && series.columns.contains { $0.name == "name" }
        if firstName == nil { firstName = Name(series.name) }
        header.showsName =
            !series.name.isEmpty && !isList && (!isTimed || firstName != Name(series.name))
        header.tags = series.tags
        // Usually all series of a statement have equal columns: convert them once.
        if series.columns == seriesColumns {
            header.columns = columns
        } else {
            header.columns = series.columns.map { FormatSink.column($0) }
            seriesColumns = series.columns
            isTime = series.columns.map(\.isTime)
            checkedName = nil
        }
        if needsIdentity, checkedName?.utf8.elementsEqual(series.name.utf8) != true {
            checkedName = series.name
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

    /// Rows without their identity tags would be merged by an import.
    private func checkIdentity(_ schema: ExperimentSchema?) throws(DatabaseError) {
        guard let schema else {
            throw DatabaseError(
                .usage,
                "--format lp: found an answer without an experiment, expected rows of one")
        }
        let columns = header.columns.filter { if case .tag = $0.kind { true } else { false } }
        let names = header.tags.map(\.name) + columns.map { $0.source ?? $0.title }
        for tag in schema.identity.tagNames
        where !names.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) {
            throw DatabaseError(
                .usage,
                "--format lp: found rows without the tag \"\(tag)\", which identifies them; add it "
                    + "to the SELECT list or to GROUP BY")
        }
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        // The reader of the output is gone.
        if output.isClosed { throw FormatSink.outputClosed }
        let start = ContinuousClock.now
        format.rows(batch, isTime: isTime)
        formatting += ContinuousClock.now - start
    }

    mutating func endSeries() throws(DatabaseError) {
        isInSeries = false
        format.endSeries()
    }

    /// An error in the middle of a series ends the series.
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if isInSeries { try endSeries() }
        if firstError == nil { firstError = error }
        format.endStatement(error: error?.messageWithRemedy)
    }

    /// Stops a query whose output has no reader. It is not an error of the command.
    static let outputClosed = DatabaseError(.cancelled, "standard output was closed")
}
