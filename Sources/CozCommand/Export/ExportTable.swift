// The rows of one experiment on their way into a file: which columns they have, and what a format
// does with them.

internal import CozDB

/// The columns of an experiment, under their own names: tags, then fields, in byte order each.
struct ExportTable {
    /// What the times are called, in files as in statements; no other column can be.
    static let timeName = "time"

    struct Field {
        var name: String
        var type: FieldType
    }

    var experiment: String
    var tags: [String]
    var fields: [Field]
}

/// Writes tables so that importing the file makes the same rows again.
protocol ExportFormat: AnyObject {
    /// What it could not write so far.
    var losses: FormatLosses { get }
    func begin(_ table: ExportTable)
    /// - Parameter batch: times, then the tags and fields of the table.
    func rows(_ batch: ResultBatch)
}

/// Hands the answer of a table's statement to a format.
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
        // Nobody is left to read the rest.
        if output.isClosed { throw FormatSink.readerLeft }
        rows += batch.count
        format.rows(batch)
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

extension ResultVector {
    /// A float that is neither NaN nor infinite; nil for null and every other value.
    func isUnspeakable(_ row: Int) -> Bool {
        type == .float && !Double(bitPattern: bits(row)).isFinite
    }
}

/// Sends bytes on in large pieces.
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
