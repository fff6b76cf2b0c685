// The code of the article Adding a format, which DocumentationTests compares with the article.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Testing

// Snippet: Write a reader
/// Reads lines such as `p01 1709280000 71`: participant, seconds since 1970, heart rate.
struct PulseReader: PointReader {
    private var lines: ArraySlice<Substring> = []
    private var number = 0

    mutating func begin(_ file: InputFile) throws(DatabaseError) {
        lines = []
        number = 0
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        if number == 0 { lines = try PulseReader.lines(of: file)[...] }
        let experiment = batch.experiment("dev".utf8.span)
        let rate = batch.column(
            experiment: experiment, name: "ts_heart_rate".utf8.span, type: .float)
        while batch.rowCount + batch.refusedLineCount < limits.points {
            guard let line = lines.popFirst() else { return true }
            number += 1
            let words = line.split(separator: " ")
            guard words.count == 3, let seconds = Int64(words[1]), let value = Double(words[2])
            else {
                batch.refuse(
                    Refusal(
                        subject: .line(Array(line.utf8)),
                        reason: "expected a participant, seconds and a number",
                        source: file.name, line: number))
                continue
            }
            let tags = batch.tagSet(
                experiment: experiment,
                tags: [(name: "id_participant", value: String(words[0]))])
            batch.append(value, to: rate)
            batch.endRow(tagSet: tags, time: seconds * 1_000_000_000, line: number)
        }
        return false
    }

    /// Returns the lines of a file that fits into memory.
    private static func lines(of file: InputFile) throws(DatabaseError) -> [Substring] {
        let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { unsafe part.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = unsafe try file.read(into: part)
            if count == 0 { break }
            unsafe bytes.append(contentsOf: part[..<count])
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
// End of snippet

// Snippet: Declare the format
extension InputFormat {
    static let pulse = InputFormat(
        name: "pulse", recognizes: { head, name in name.hasSuffix(".pulse") },
        makeReader: { options in PulseReader() })
}
// End of snippet

struct AddingAFormatSnippets {
    @Test func `the article's format is read`() throws {
        let folder = TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/a.pulse"
        try "p01 1709280000 71\np01 now 72\n".write(
            toFile: path, atomically: true, encoding: .utf8)
        let database = try Database.open(folder.path + "/db")
        // Snippet: Use it
        var options = ImportOptions()
        options.formats = [.pulse, .csv, .lineProtocol]
        let report = try importFiles([path], into: database, options: options)
        // End of snippet
        #expect(report.points == 1 && report.values == 1 && report.refusedLines == 1)
        try database.close()
    }
}
