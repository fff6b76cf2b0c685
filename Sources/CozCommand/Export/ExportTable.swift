// The columns of an exported experiment, and the protocol that export formats implement.

internal import CozDB

/// The columns of an experiment under their stored names: tags, then fields, each in byte order.
struct ExportTable {
    /// The name of the time column in files and statements. No other column can have it.
    static let timeName = "time"

    struct Field {
        var name: String
        var type: FieldType
    }

    var experiment: String
    var tags: [String]
    var fields: [Field]
}

/// Writes tables in a form that can be imported as the same rows.
protocol ExportFormat: AnyObject {
    /// What the format could not represent so far.
    var losses: FormatLosses { get }
    func begin(_ table: ExportTable)
    /// - Parameter batch: The times, then the tags and fields of the table.
    func rows(_ batch: ResultBatch)
}

/// Passes the answer to a table's statement on to a format.
struct ExportSink: QueryResultSink {
    private let format: any ExportFormat
    private let output: OutputWriter
    private(set) var rows = 0

    init(_ format: any ExportFormat, _ output: OutputWriter) {
        self.format = format
        self.output = output
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        // The reader of the output is gone.
        if output.isClosed { throw FormatSink.outputClosed }
        rows += batch.count
        format.rows(batch)
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

extension ResultVector {
    /// Whether the value is NaN or infinite, which no export format can represent.
    func isNonFinite(_ row: Int) -> Bool {
        type == .float && !Double(bitPattern: bits(row)).isFinite
    }
}

/// Collects bytes and passes them on in large pieces.
struct ExportBuffer {
    private static let pieceSizeBytes = 1 << 16

    private let output: OutputWriter
    var bytes: [UInt8] = []

    init(_ output: OutputWriter) {
        self.output = output
    }

    mutating func endRow() {
        if bytes.count >= ExportBuffer.pieceSizeBytes { flush() }
    }

    mutating func flush() {
        output.append(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
