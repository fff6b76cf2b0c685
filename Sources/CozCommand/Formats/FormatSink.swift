// From the query engine's typed columns to the cells of an output format.

internal import CozDB

/// Feeds a format with an answer, and remembers what went wrong and how long formatting took.
struct FormatSink: QueryResultSink {
    private let format: any ResultFormat
    private let output: OutputWriter
    private let showsName: Bool
    private var header = ResultHeader()
    private var isTime: [Bool] = []
    private var cells: [ResultCell] = []
    /// Statements begun so far.
    private(set) var statements = 0
    /// The first statement that failed decides the exit status.
    private(set) var firstError: DatabaseError?
    /// Time spent in the format, writing included.
    private(set) var formatting = Duration.zero

    init(_ format: any ResultFormat, _ output: OutputWriter, showsName: Bool) {
        self.format = format
        self.output = output
        self.showsName = showsName
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        statements += 1
        format.beginStatement(index)
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        header = ResultHeader()
        header.name = series.name
        header.showsName = showsName && !series.name.isEmpty
        header.tags = series.tags
        header.columns = series.columns.map { column in
            ResultHeader.Column(
                title: column.name, kind: column.isTime ? .time : .field(column.type), source: nil)
        }
        if let zone = series.zone {
            header.zoneOffset = { zone.offsetSeconds(at: Timestamp(nanoseconds: $0)) }
        }
        isTime = series.columns.map(\.isTime)
        cells = [ResultCell](repeating: .null, count: series.columns.count)
        format.beginSeries(header)
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        // Nobody is left to read the rest.
        if output.isClosed { throw FormatSink.readerLeft }
        let start = ContinuousClock.now
        for row in 0..<batch.count {
            for column in cells.indices {
                let vector = batch.columns[column]
                if vector.isNull(row) {
                    cells[column] = .null
                } else if isTime[column] {
                    cells[column] = .time(Int64(bitPattern: vector.bits(row)))
                } else {
                    cells[column] = vector.value(row).map { .value($0) } ?? .null
                }
            }
            format.row(cells)
        }
        formatting += ContinuousClock.now - start
    }

    mutating func endSeries() throws(DatabaseError) {
        format.endSeries()
    }

    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if firstError == nil { firstError = error }
        format.endStatement(error: error?.message)
    }

    /// Ends a query whose answer nobody reads any more; not an error of the command.
    static let readerLeft = DatabaseError(.cancelled, "standard output was closed")
}
