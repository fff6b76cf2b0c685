// A made-up export in a folder of its own, and the database it becomes.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozTestSupport
internal import Foundation

/// Files below a folder, imported as Beiwe.
final class BeiweExport {
    static let patient = "16au2moz"

    private let directory = TemporaryDirectory()
    var options = ImportOptions()
    var beiwe = BeiweOptions()

    init(_ files: [String: String] = [:]) throws {
        options.experiment = "study"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, name) }
    }

    var folder: String { directory.path + "/export" }

    func path(_ name: String) -> String { folder + "/" + name }

    func write(_ text: String, _ name: String) throws { try write(Data(text.utf8), name) }

    func write(_ data: Data, _ name: String) throws {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    /// Imports into a database of a name; the folder where no paths are given.
    @discardableResult
    func load(
        _ paths: [String]? = nil, into name: String = "db"
    ) throws -> ImportReport {
        var options = options
        options.format = .beiwe(beiwe)
        return try with(name) { database throws(DatabaseError) in
            try importFiles(paths ?? [self.folder], into: database, options: options)
        }
    }

    func with<Result>(
        _ name: String = "db", _ body: (Database) throws(DatabaseError) -> Result
    ) throws -> Result {
        let database = try Database.open(directory.path + "/" + name)
        let result = try body(database)
        try database.close()
        return result
    }

    /// The answer as text, without the line of titles.
    func ask(_ statement: String, _ name: String = "db") throws -> [String] {
        let text = try with(name) { database throws(DatabaseError) in
            "\(try database.query(statement))"
        }
        return text.split(separator: "\n").map(String.init)
    }

    /// Everything that is stored, for comparisons.
    func contents(_ name: String = "db") throws -> [String] {
        try with(name) { database throws(DatabaseError) in
            var lines: [String] = []
            for schema in try database.schemas() {
                let fields = schema.fields.map { "\($0.name):\($0.type) \($0.unit) \($0.note)" }
                lines.append("\(schema.name) \(fields) \(schema.declarations)")
                lines.append("\(try database.query("SELECT * FROM \"\(schema.name)\""))")
            }
            return lines
        }
    }

    /// The rejects as `line:column reason`, after the name of their file.
    func rejects(_ name: String = "db") throws -> [String] {
        try with(name) { database throws(DatabaseError) in
            var lines: [String] = []
            try database.rejects { entry throws(DatabaseError) in
                let refusal = entry.refusal
                let file = refusal.source.split(separator: "/").last ?? ""
                lines.append("\(file):\(refusal.line):\(refusal.column) \(refusal.reason)")
                return true
            }
            return lines
        }
    }
}
