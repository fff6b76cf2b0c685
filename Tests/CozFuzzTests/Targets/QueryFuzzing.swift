// Statements: parsed, planned and run against a small database.

@testable internal import CozDB

/// First byte: as InfluxDB answers (bit 0), secrets masked (1).
enum QueryFuzzing {
    private static let database = Result { () throws(DatabaseError) in
        try Sample.open(MemoryFiles(Sample.files), .readOnly)
    }

    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        guard let text = String(validating: bytes.span) else { return }
        var options = Sample.queryOptions
        options.influxCompatible = choice & 1 != 0
        options.redactsSecrets = choice & 2 != 0
        _ = Database.changesData(text, options: options)
        try Sample.attempt(allowing: [.usage, .notFound]) { () throws(DatabaseError) in
            _ = try database.get().execute(text, options: options)
        }
    }
}
