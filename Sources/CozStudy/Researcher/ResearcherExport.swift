// Exports the CSV of the researcher API, byte for byte. Runs the API's InfluxDB statement twice:
// the first run collects what pandas derives from whole columns, the second writes.
//
// Source: cozie-apple-backend e29a13c, lambda_cozie-apple-v3-researcher-read-influx. It converts
// the response to a pandas table, drops columns without values, and calls `to_csv`.

public import CozDB

/// Writes the CSV of the researcher API: an unnamed column with row numbers, `index` with the
/// times, and the requested columns that have values. Numbers, booleans and texts are printed like
/// pandas does. Nulls and empty texts are empty cells.
///
/// Memory use does not depend on the number of rows.
public struct ResearcherExport: Sendable {
    /// The result of an export.
    public struct Summary: Hashable, Sendable {
        /// The number of rows, without the header.
        public var rows = 0
        /// The columns, without the row number and `index`.
        public var columns: [String] = []
    }

    private let request: ResearcherRequest
    private let isCancelled: (@Sendable () -> Bool)?

    /// Creates an export.
    ///
    /// - Parameters:
    ///   - request: what to export.
    ///   - isCancelled: the cancellation check. If it returns true, `write` throws `cancelled`.
    public init(_ request: ResearcherRequest, isCancelled: (@Sendable () -> Bool)? = nil) {
        self.request = request
        self.isCancelled = isCancelled
    }

    /// Writes the CSV in pieces of about 64 KiB. Without rows it writes the header `,index`.
    ///
    /// Cost: reads the rows twice.
    ///
    /// - Throws: `notFound` for an unknown experiment; `usage` for an invalid column, time zone or
    ///   number of days; the errors of the query and of `write`.
    @discardableResult
    public func write(
        from snapshot: DatabaseSnapshot,
        _ write: ([UInt8]) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> Summary {
        let schema = try schema(in: snapshot)
        try check(schema, snapshot)
        let index = ResearcherIndex(try zone())
        let names = request.selection(schema)
        var survey = ColumnSurvey()
        try snapshot.query(
            request.statement(names, schema), options: options, into: &survey)
        let kept = names.indices.filter { survey.rows > 0 && isKept($0, survey) }
        return try withoutActuallyEscaping(write) { write throws(DatabaseError) in
            var table = try ResearcherTable(
                kept.map { survey.columns[$0] }, names: kept.map { survey.names[$0] }, index,
                marksFormulas: request.marksFormulas, write)
            if !kept.isEmpty {
                let statement = request.statement(kept.map { names[$0] }, schema)
                try snapshot.query(statement, options: options, into: &table)
            }
            try table.finish()
            return Summary(rows: table.rows, columns: kept.map { survey.names[$0] })
        }
    }

    private func isKept(_ column: Int, _ survey: ColumnSurvey) -> Bool {
        // The API adds the tags on its own, so drop them if they are empty.
        survey.columns[column].hasValue
            || request.keepsEmptyColumns && column >= ResearcherRequest.tags.count
    }

    private func schema(in snapshot: DatabaseSnapshot) throws(DatabaseError) -> ExperimentSchema {
        let schemas = snapshot.schemas
        let schema = schemas.first { $0.name.utf8.elementsEqual(request.experiment.utf8) }
        if let schema { return schema }
        let names = schemas.prefix(20).map(\.name).joined(separator: ", ")
        throw DatabaseError(
            .notFound,
            "found no experiment \"\(request.experiment)\""
                + (schemas.isEmpty ? ": the database is empty" : ", expected one of: \(names)"))
    }

    private func zone() throws(DatabaseError) -> TimeZoneRules? {
        guard let name = request.zone else { return nil }
        return try TimeZoneRules(named: name)
    }

    /// Rejects requests that the API answers with an empty table, which looks like missing data.
    private func check(
        _ schema: ExperimentSchema, _ snapshot: DatabaseSnapshot
    ) throws(DatabaseError) {
        if let days = request.days, !(0...106_751).contains(days) {
            throw DatabaseError(.usage, "found \(days) days, expected 0 to 106751")
        }
        let known = schema.fields + schema.attributes
        for column in request.columns
        where !ResearcherRequest.tags.contains(column)
            && !known.contains(where: { $0.name.utf8.elementsEqual(column.utf8) })
        {
            // The query layer knows all tags and suggests similar names.
            var nothing = ColumnSurvey()
            var options = options
            options.influxCompatible = false
            try snapshot.query(
                "EXPLAIN SELECT \(QueryText.name(column)) FROM \(QueryText.name(schema.name))",
                options: options, into: &nothing)
        }
    }

    private var options: QueryOptions {
        var options = QueryOptions(now: request.now)
        // A tag that no point has is an empty column, not an error.
        options.influxCompatible = true
        options.redactsSecrets = request.redactsSecrets
        options.isCancelled = isCancelled
        options.isGenerated = true
        return options
    }
}

/// The sink of the first run: collects names, row count and kinds of values.
private struct ColumnSurvey: QueryResultSink {
    private(set) var columns: [PandasColumn] = []
    private(set) var names: [String] = []
    private(set) var rows = 0

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        names = series.columns.dropFirst().map(\.name)
        columns = [PandasColumn](repeating: PandasColumn(), count: names.count)
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        rows += batch.count
        for index in columns.indices { columns[index].add(batch.columns[index + 1]) }
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

/// The sink of the second run: writes header and rows.
private struct ResearcherTable: QueryResultSink {
    private static let pieceSizeBytes = 1 << 16

    private let floatColumns: [Bool]
    private let marksFormulas: Bool
    private var index: ResearcherIndex
    private let write: ([UInt8]) throws(DatabaseError) -> Void
    private var bytes: [UInt8] = []
    private(set) var rows = 0

    init(
        _ columns: [PandasColumn], names: [String], _ index: ResearcherIndex, marksFormulas: Bool,
        _ write: @escaping ([UInt8]) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        floatColumns = columns.map(\.isFloatColumn)
        self.marksFormulas = marksFormulas
        self.index = index
        self.write = write
        bytes.append(UInt8(ascii: ","))
        let hasIndex = names.contains("index")
        if hasIndex && names.contains("level_0") {
            throw DatabaseError(
                .usage,
                "found columns \"index\" and \"level_0\", which pandas needs for the times; "
                    + "expected at most one of them, so select columns without the other")
        }
        for name in [hasIndex ? "level_0" : "index"] + names {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            append(name.utf8.span)
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        let times = batch.columns[0]
        let columns = Array(batch.columns.dropFirst())
        for row in 0..<batch.count {
            PandasText.append(Int64(rows), to: &bytes)
            rows += 1
            bytes.append(UInt8(ascii: ","))
            index.append(Int64(bitPattern: times.bits(row)), to: &bytes)
            for column in columns.indices {
                bytes.append(UInt8(ascii: ","))
                if !columns[column].isNull(row) {
                    append(columns[column], row, isFloat: floatColumns[column])
                }
            }
            bytes.append(UInt8(ascii: "\n"))
            if bytes.count >= ResearcherTable.pieceSizeBytes { try handOver() }
        }
    }

    private mutating func append(_ text: Span<UInt8>) {
        if marksFormulas {
            PandasText.append(safeCell: text, to: &bytes)
        } else {
            PandasText.append(cell: text, to: &bytes)
        }
    }

    private mutating func append(_ vector: ResultVector, _ row: Int, isFloat: Bool) {
        switch vector.type {
        case .string: vector.withText(row) { append($0) }
        case .float:
            let value = Double(bitPattern: vector.bits(row))
            if value.isNaN { return }
            if isFloat {
                PandasText.append(float: value, to: &bytes)
            } else {
                PandasText.append(answered: value, to: &bytes)
            }
        case .integer:
            let value = Int64(bitPattern: vector.bits(row))
            if isFloat {
                PandasText.append(float: Double(value), to: &bytes)
            } else {
                PandasText.append(value, to: &bytes)
            }
        case .boolean: PandasText.append(vector.bits(row) != 0, to: &bytes)
        case nil: break
        }
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}

    mutating func finish() throws(DatabaseError) { try handOver() }

    private mutating func handOver() throws(DatabaseError) {
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}
