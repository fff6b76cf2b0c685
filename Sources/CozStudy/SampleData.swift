// Made-up Cozie data as line protocol, for trying CozDB out and for tests. Not a model of people:
// it only has the shape of the real thing (sparse, late, out of order, twice, hard to escape).

/// A made-up study. The same values give the same bytes, on every machine.
public struct SampleData: Sendable {
    /// In what form the points are written.
    public enum Shape: String, CaseIterable, Sendable {
        /// One line a row, in the order in which the backend's Lambda writes them: by arrival.
        case points
        /// As `influx_inspect export`: a header, one field a line, sorted by series and field;
        /// first what is in TSM files, then the write-ahead log.
        case export
    }

    /// At least 1.
    public var participants = 10
    /// Length of the study in days, at least 1.
    public var days = 7
    /// Another seed gives other data; the same gives the same bytes.
    public var seed: UInt64 = 1
    /// How the points are written.
    public var shape = Shape.points
    /// Name of the experiment (measurement).
    public var experiment = "demo"

    /// Ten participants, seven days.
    public init() {}

    /// Writes the lines, about 64 KiB a call. Holds all points in memory: some hundred bytes each,
    /// about 200 per participant and day.
    public func write<Failure: Error>(
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var points: [SamplePoint] = []
        for number in 0..<participants {
            var participant = SampleParticipant(number: number, days: days, seed: seed)
            points += participant.points()
        }
        points.sort { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
        var output = SampleOutput(experiment: SampleOutput.escapedName(experiment))
        switch shape {
        case .points:
            for point in points {
                output.appendRow(point)
                try output.flush(atLeast: 1 << 16, body)
            }
        case .export:
            try writeExport(points, &output, body)
        }
        try output.flush(atLeast: 1, body)
    }

    /// The latest hundredth of the points is still in the write-ahead log of the exported server.
    private func writeExport<Failure: Error>(
        _ points: [SamplePoint], _ output: inout SampleOutput,
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        output.append(
            """
            # INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z
            # DDL
            CREATE DATABASE "cozie-apple" WITH NAME autogen
            # DML
            # CONTEXT-DATABASE:cozie-apple
            # CONTEXT-RETENTION-POLICY:autogen
            # writing tsm data

            """)
        let inLog = points.count / 100
        try writeFields(points.dropLast(inLog), &output, body)
        output.append("# writing wal data\n")
        try writeFields(points.suffix(inLog), &output, body)
    }

    private struct Key: Hashable, Comparable {
        var tags: String
        var field: String

        static func < (left: Key, right: Key) -> Bool {
            (left.tags, left.field) < (right.tags, right.field)
        }
    }

    private func writeFields<Failure: Error>(
        _ points: some Sequence<SamplePoint>, _ output: inout SampleOutput,
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        // A server keeps one value per series, field and time: the one that arrived last.
        var columns: [Key: [Int64: SampleValue]] = [:]
        for point in points {
            for (name, value) in point.fields {
                columns[Key(tags: point.tags, field: name), default: [:]][point.time] = value
            }
        }
        for (key, values) in columns.sorted(by: { $0.key < $1.key }) {
            for (time, value) in values.sorted(by: { $0.key < $1.key }) {
                output.appendField(key.tags, key.field, value, time)
                try output.flush(atLeast: 1 << 16, body)
            }
        }
    }
}

/// A value as the app sends it.
enum SampleValue: Sendable {
    case integer(Int)
    case float(Double)
    case string(String)
    case boolean(Bool)
}

/// One point on its way to the database.
struct SamplePoint: Sendable {
    /// Escaped and joined: `,id_onesignal=...,id_participant=...`.
    var tags: String
    var fields: [(name: String, value: SampleValue)]
    /// Nanoseconds since 1970, whole milliseconds.
    var time: Int64
    /// When the backend wrote it, in microseconds since 1970.
    var arrival: Int64
    /// Tells points apart that arrive together.
    var order: Int
}

/// Line protocol being written.
struct SampleOutput {
    private var bytes: [UInt8] = []
    private let experiment: String

    init(experiment: String) {
        self.experiment = experiment
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// As influxdb-python writes a point: fields sorted by name, `True`, floats with a fraction.
    mutating func appendRow(_ point: SamplePoint) {
        append(experiment + point.tags + " ")
        for (index, field) in point.fields.sorted(by: { $0.name < $1.name }).enumerated() {
            if index > 0 { append(",") }
            append(field.name + "=")
            switch field.value {
            case .integer(let value): append("\(value)i")
            case .float(let value): append(value.description)
            case .boolean(let value): append(value ? "True" : "False")
            case .string(let value): append(SampleOutput.quoted(value))
            }
        }
        append(" \(point.time)\n")
    }

    /// As `influx_inspect export` writes one value.
    mutating func appendField(
        _ tags: String, _ field: String, _ value: SampleValue, _ time: Int64
    ) {
        append("\(experiment)\(tags) \(field)=")
        switch value {
        case .integer(let value): append("\(value)i")
        case .float(let value): append(ShortestDecimal(value).general)
        case .boolean(let value): append(value ? "true" : "false")
        case .string(let value): append(SampleOutput.quoted(value))
        }
        append(" \(time)\n")
    }

    mutating func flush<Failure: Error>(
        atLeast count: Int, _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        guard bytes.count >= count else { return }
        try body(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }

    /// A measurement, tag name or tag value with what would end it escaped.
    static func escapedName(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            if character == "," || character == " " || character == "=" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result
    }
}
