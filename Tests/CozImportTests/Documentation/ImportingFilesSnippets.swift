// The code of the article Importing files, which DocumentationTests compares with the article.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

struct ImportingFilesSnippets {
    private let folder = TemporaryDirectory()

    private func file(_ name: String, _ text: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `the article's import stores good lines and keeps bad ones`() throws {
        let points = try file(
            "points.txt",
            "dev,id_participant=p01 ts_heart_rate=71 1709280000000000000\nno line protocol\n")
        let table = try file("rates.csv", "time,id_participant,rate\n2024-03-01T08:00:00Z,p02,74\n")
        let database = try Database.open(folder.path + "/db")
        // Snippet: Import
        var options = ImportOptions()
        options.formats = [
            .annotatedCSV, .influxCSV, .influxJSON, .ndjson, .csv, .lineProtocol,
        ]
        options.experiment = "dev"  // of rows whose format names none, as in the table
        let report = try importFiles([points, table], into: database, options: options)
        // report.points is 2, report.values is 2, report.refusedLines is 1
        // End of snippet
        #expect(report.points == 2 && report.values == 2 && report.refusedLines == 1)

        // Snippet: Look at refusals
        if report.hasRefusals {
            for refusal in report.examples {
                note("\(refusal.source):\(refusal.line):\(refusal.column): \(refusal.reason)")
            }
        }
        // End of snippet
        try database.close()
    }

    @Test func `the article's options are taken`() throws {
        let table = try file(
            "rates.csv", "when;who;rate\n01.03.2024 08:00;p02;74\n01.03.2024 08:01;p02;-\n")
        let database = try Database.open(folder.path + "/db")
        // Snippet: Describe a table
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "dev"
        options.renames = ["rate": "ts_heart_rate"]
        options.table.timeColumn = "when"
        options.table.participantColumn = "who"
        options.table.timeFormat = .pattern(try TimePattern(strptime: "%d.%m.%Y %H:%M"))
        options.table.timeZone = try TimeZoneRules(named: "Asia/Singapore")
        options.table.nulls = ["-"]
        // End of snippet
        let isStopping = Flag()
        // Snippet: Watch and cancel
        options.progress = { progress in
            let total = progress.totalBytes ?? 0  // nil for pipes
            show(progress.readBytes, of: total, points: progress.points)
        }
        options.committed = { points in checkpoint(points) }
        options.isCancelled = { isStopping.isRaised }
        // End of snippet
        let report = try importFiles([table], into: database, options: options)
        #expect(report.values == 1)
        let result = try database.query("SELECT ts_heart_rate FROM dev")
        #expect(result.series.first?.times.map(\.description) == ["2024-03-01T00:00:00Z"])

        isStopping.raise()
        let error = #expect(throws: DatabaseError.self) {
            try importFiles([table], into: database, options: options)
        }
        #expect(error?.kind == .cancelled)
        try database.close()
    }

    @Test func `the article's inputs are open before the database`() throws {
        let points = try file("points.txt", "dev,id_participant=p01 ts_heart_rate=71 1\n")
        let path = folder.path + "/db"
        let options = ImportOptions()
        // Snippet: Open the inputs first
        let inputs = try ImportInputs([points], options: options)  // waits for the first bytes
        let database = try Database.open(path)
        _ = try importFiles(inputs, into: database, options: options)
        try database.close()
        // End of snippet
    }

    @Test func `the article imports bytes`() async throws {
        let database = try Database.inMemory()
        let body = Array("dev,id_participant=p01 rate=71 1\n".utf8)
        let options = ImportOptions()
        // Snippet: Import bytes in memory
        let report = try await importBytes(
            body, name: "upload 17", into: database, options: options)
        // End of snippet
        #expect(report.points == 1)
    }

    @Test func `the article imports chunks`() async throws {
        let database = try Database.inMemory()
        let body = ["dev,id_participant=p01 rate=7", "1 1\n"]
        let chunks = AsyncStream { continuation in
            for chunk in body { continuation.yield(Array(chunk.utf8)) }
            continuation.finish()
        }
        let options = ImportOptions()
        // Snippet: Import bytes as they arrive
        let report = try await importBytes(
            chunks, name: "upload 18", into: database, options: options)
        // End of snippet
        #expect(report.points == 1)
    }

    @Test func `the article's parser reads chunks`() throws {
        let database = try Database.open(folder.path)
        let chunks = [Array("dev,id_participant=p01 rate=7".utf8), Array("1 1\n".utf8)]
        // Snippet: Parse a stream
        var parser = LineProtocolParser()
        var batch = WriteBatch()
        batch.source = "socket"
        for chunk in chunks {
            parser.append(chunk.span)
            while case .batchFull = try parser.parse(into: &batch, points: 1000) {
                _ = try database.write(batch)
                batch.removeAll()
            }
        }
        parser.finish()  // the rest is the last line
        _ = try parser.parse(into: &batch, points: 1000)
        let report = try database.write(batch)
        // End of snippet
        #expect(report.values == 1)
        try database.close()
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
}

private func note(_ text: String) {}
private func show(_ bytes: Int, of total: Int, points: Int) {}
private func checkpoint(_ points: Int) {}
