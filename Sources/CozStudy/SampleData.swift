// Synthetic Cozie data as line protocol, for demos and tests. It has the shape of real data
// (sparse, late, out of order, duplicated, hard to escape) but does not model people.

/// A synthetic study. Equal values produce equal bytes on every machine.
public struct SampleData: Sendable {
    /// The output format.
    public enum Shape: String, CaseIterable, Sendable {
        /// One line per row, in order of arrival, as the backend's Lambda writes them.
        case points
        /// The format of `influx_inspect export`: a header, then one field per line, sorted by
        /// series and field. Data from TSM files comes first, then data from the write-ahead log.
        case export
    }

    /// The number of participants. Below 1, the study is empty.
    public var participants = 10
    /// The length of the study in days, 1 to 36,500. Other values count as the nearest of these.
    public var days = 7
    /// The seed of the random numbers. Equal seeds produce equal bytes.
    public var seed: UInt64 = 1
    /// The output format.
    public var shape = Shape.points
    /// The name of the experiment (the InfluxDB measurement).
    public var experiment = "demo"

    /// Creates a study of ten participants and seven days.
    public init() {}

    /// Calls `body` with the lines, about 64 KiB per call.
    ///
    /// Cost: all points are in memory, about 200 per participant and day, some hundred bytes each.
    ///
    /// - Throws: what `body` throws.
    public func write<Failure: Error>(
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var points: [SamplePoint] = []
        for number in 0..<max(0, participants) {
            let days = min(max(1, days), 36_500)
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

    /// Writes the export. The last hundredth of the points goes to its write-ahead log section.
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
        // A server keeps one value per series, field and time: the last one to arrive.
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

enum SampleValue: Sendable {
    case integer(Int)
    case float(Double)
    case string(String)
    case boolean(Bool)
}

/// A point on its way to the database.
struct SamplePoint: Sendable {
    /// Escaped and joined: `,id_onesignal=...,id_participant=...`.
    var tags: String
    var fields: [(name: String, value: SampleValue)]
    /// Nanoseconds since 1970, a multiple of one millisecond.
    var time: Int64
    /// When the backend wrote the point, in microseconds since 1970.
    var arrival: Int64
    /// Breaks ties between points with equal `arrival`.
    var order: Int
}

/// A buffer of line protocol.
struct SampleOutput {
    private var bytes: [UInt8] = []
    private let experiment: String

    init(experiment: String) {
        self.experiment = experiment
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a point as influxdb-python writes it: fields sorted by name, `True` and `False`,
    /// floats with a fraction.
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

    /// Appends one value as `influx_inspect export` writes it.
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

    /// Escapes a measurement, tag name or tag value.
    static func escapedName(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            if character == "," || character == " " || character == "=" { result += "\\" }
            result.unicodeScalars.append(character)
        }
        return result
    }
}
