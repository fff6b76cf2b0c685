// Which files of a folder are read, and what their paths say.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import Foundation
internal import Glibc
internal import Synchronization
internal import Testing

struct BeiweFolderTests {
    private static let gps = """
        timestamp,UTC time,latitude,longitude,altitude,accuracy
        1444362737000,2015-10-09T03:52:17.000,1,2,3,4
        """

    private func participants(_ export: BeiweExport, _ stream: String) throws -> [String] {
        try export.ask("SHOW TAG VALUES FROM \"\(stream)\" WITH KEY = id_participant")
            .filter { $0.hasPrefix("id_participant") }
            .map { String($0.split(separator: " ").last ?? "") }
    }

    @Test func `patients are found at any depth, and what is no data is counted`() throws {
        let export = try BeiweExport([
            "first/gps/a.csv": Self.gps,
            "study/second/gps/a.csv": Self.gps,
            "study/second/audio_recordings/abc/a.mp4": "sound",
            "registry": "{}",
            "notes/read me.csv": "hello,world\n1,2\n",
            "first/gps/.hidden.csv": Self.gps,
            ".DS_Store": "x",
            "__MACOSX/first/gps/a.csv": "x",
        ])
        try FileManager.default.createSymbolicLink(
            atPath: export.path("third"), withDestinationPath: export.path("first"))
        let report = try export.load()
        #expect(report.points == 2)
        #expect(report.passedOver == 4)
        #expect(
            report.passedOverExamples.map { String($0.dropFirst(export.folder.count + 1)) }
                .sorted() == [
                    "notes/read me.csv", "registry", "study/second/audio_recordings/abc/a.mp4",
                    "third",
                ])
        #expect(try participants(export, "gps") == ["first", "second"])
    }

    @Test func `the stored participant tag is used again`() throws {
        let export = try BeiweExport([
            "\(BeiweExport.patient)/gps/a.csv": Self.gps,
            "\(BeiweExport.patient)/survey_answers/S/2022-03-14 16_32_56+00_00.csv":
                "question id,question type,question text,question answer options,answer\n"
                + "q,a,b,c,d\n",
        ])
        export.options.settings.identity = .participant(tag: "who")
        #expect(try !export.load().hasRefusals)
        export.options.settings.identity = nil
        let again = try export.load()
        #expect(!again.hasRefusals && again.points == 3)
        #expect(try export.ask("SHOW SERIES").count == 1 + 3)
    }

    @Test func `the tag of the study is no participant tag`() throws {
        let export = try BeiweExport(["\(BeiweExport.patient)/gps/a.csv": Self.gps])
        export.options.settings.identity = .participant(tag: "id_experiment")
        export.options.experiment = "study"
        let error = #expect(throws: DatabaseError.self) { try export.load() }
        #expect(error?.kind == .usage)
        #expect(error?.message.hasPrefix("found the participant tag \"id_experiment\"") == true)
        export.options.experiment = nil
        #expect(try !export.load().hasRefusals)
    }

    @Test func `renamed columns have the types of their streams`() throws {
        let header = "timestamp,UTC time,latitude,longitude,altitude,accuracy\n"
        let export = try BeiweExport([
            "\(BeiweExport.patient)/gps/a.csv": header + "1000,1970-01-01T00:00:01.000,n/a,2,3,4\n"
                + "2000,1970-01-01T00:00:02.000,42.5,2,3,4\n",
            "\(BeiweExport.patient)/odd/a.csv": "timestamp,a\n1000,high\n",
        ])
        export.options.renames = ["latitude": "lat", "a": "b"]
        #expect(try export.load().refusedValues == 1)
        try export.write("timestamp,a\n2000,7\n", "\(BeiweExport.patient)/odd/b.csv")
        #expect(try export.load().refusedValues == 1)
        #expect(try export.ask("SELECT lat FROM gps").last?.hasSuffix("42.5") == true)
        #expect(try export.ask("SELECT b FROM odd").last?.hasSuffix("7") == true)
    }

    @Test func `a column next to one with its new name keeps name and type`() throws {
        let export = try BeiweExport([
            "\(BeiweExport.patient)/gps/a.csv":
                "timestamp,latitude,longitude,altitude,accuracy,note\n1000,42.5,2,3,4,home\n"
        ])
        export.options.renames = ["latitude": "note"]
        #expect(try !export.load().hasRefusals)
        let row = try export.ask("SELECT latitude, note FROM gps").last
        #expect(row?.split(separator: " ").suffix(2) == ["42.5", "home"])
    }

    @Test func `a file whose name is not UTF-8 is an error, not left out`() throws {
        let export = try BeiweExport(["first/gps/a.csv": Self.gps])
        let path = Array(export.path("first/gps/caf").utf8) + [0xE9] + Array(".csv\0".utf8)
        let descriptor = unsafe open(
            path.map { CChar(bitPattern: $0) }, O_CREAT | O_WRONLY, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
        let error = #expect(throws: DatabaseError.self) { try export.load() }
        #expect(error?.message.hasPrefix("the name is not valid UTF-8; rename it") == true)
        #expect(error?.file?.hasSuffix("first/gps/caf\u{FFFD}.csv") == true)
    }

    @Test func `a path that is too long is an error, not left out`() throws {
        let export = try BeiweExport(["first/gps/a.csv": Self.gps])
        // Step by step, because no call takes such a path.
        let name = String(repeating: "d", count: 250)
        var folder = unsafe open(export.folder, O_RDONLY)
        for _ in 0..<18 {
            #expect(unsafe mkdirat(folder, name, 0o700) == 0)
            let next = unsafe openat(folder, name, O_RDONLY)
            close(folder)
            folder = next
        }
        close(folder)
        let error = #expect(throws: DatabaseError.self) { try export.load() }
        #expect(error?.message.contains("too long") == true)
    }

    @Test func `patients are told apart by the bytes of their names`() throws {
        // One character, composed and decomposed.
        let names = ["\u{E9}", "e\u{301}"]
        let export = try BeiweExport(["x/gps/a.csv": Self.gps])
        for name in names { try export.write(Self.gps, "\(name)1/gps/a.csv") }
        #expect(try export.load().points == 3)
        #expect(
            try export.ask("SELECT latitude FROM gps WHERE time > 1444362737000000000") == [])
    }

    @Test func `rows of one time stay apart if a batch ends with the file`() throws {
        let export = try BeiweExport()
        let header = "timestamp,UTC time,launchId,memory,battery,event,msg,d1,d2,d3,d4\n"
        let time = 1_639_530_000_000
        // The size at which a batch is full with the last block of the file.
        let size = 257 << 17
        var text = Data(header.utf8)
        var count = 0
        while text.count < size {
            let start = "\(time + count * 100),,L,,,ev,"
            let left = size - text.count - start.utf8.count - 5
            let length = left < 8_200 ? left : 4_000
            text.append(contentsOf: (start + String(repeating: "x", count: length)).utf8)
            text.append(contentsOf: ",,,,\n".utf8)
            count += 1
        }
        #expect(text.count == size)
        try export.write(text, "p1/ios_log/2021-12-15 01_00_00+00_00.csv")
        let more = (0..<5).map { "\(time + $0 * 100),,L,,,other,second,,,,\n" }.joined()
        try export.write(header + more, "p1/ios_log/2021-12-15 01_00_00+00_00_2.csv")
        try export.load()
        #expect(
            try export.ask("SELECT count(event) FROM ios_log").joined().contains("\(count + 5)"))
    }

    @Test func `a patient's folder, a stream's folder and a file can be named themselves`() throws {
        let patient = BeiweExport.patient
        let name = "\(patient)/gps/2015-10-09 03_00_00.csv"
        for path in [patient, "\(patient)/gps", "\(patient)/gps/", name] {
            let export = try BeiweExport([name: Self.gps])
            #expect(try export.load([export.path(path)]).points == 1, "\(path)")
            #expect(try participants(export, "gps") == [patient], "\(path)")
        }
    }

    @Test func `loose files need a participant, and a stream where the header does not tell`()
        throws
    {
        let export = try BeiweExport(["old/2015-10-09 03_00_00.csv": Self.gps])
        let error = #expect(throws: DatabaseError.self) { try export.load() }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("or give a participant") == true)
        export.options.participant = "p1"
        #expect(try export.load().points == 1)
        #expect(try participants(export, "gps") == ["p1"])

        let other = try BeiweExport(["a.csv": "timestamp,accuracy,x,y,z\n1444362737000,,1,2,3"])
        other.options.participant = "p1"
        let which = #expect(throws: DatabaseError.self) { try other.load() }
        #expect(which?.kind == .usage)
        #expect(which?.message.contains("accelerometer and of gyro") == true)
        other.beiwe.stream = "accelerometer"
        #expect(try other.load().points == 1)
        #expect(try participants(other, "accelerometer") == ["p1"])
    }

    @Test func `nothing is stored where a file needs an option or is not there`() throws {
        let export = try BeiweExport([
            "\(BeiweExport.patient)/gps/a.csv": Self.gps, "z/a.csv": Self.gps,
        ])
        #expect(throws: DatabaseError.self) { try export.load() }
        #expect(throws: DatabaseError.self) {
            try export.load([export.folder, export.path("missing.csv")])
        }
        let count = try export.with { database throws(DatabaseError) in
            try database.schemas().count
        }
        #expect(count == 0)
    }

    @Test func `a folder named like a stream does not make its parent a patient`() throws {
        let export = try BeiweExport(["gps/a.csv": Self.gps])
        #expect(throws: DatabaseError.self) { try export.load() }
        export.options.participant = "p1"
        #expect(try export.load().points == 1)
        #expect(try participants(export, "gps") == ["p1"])
    }

    @Test func `files are recognised by their header without being asked`() throws {
        let export = try BeiweExport(["a.csv": Self.gps])
        export.options.participant = "p1"
        var options = export.options
        options.formats = [.beiwe(), .lineProtocol]
        let chosen = options
        let report = try export.with { database throws(DatabaseError) in
            try importFiles([export.path("a.csv")], into: database, options: chosen)
        }
        #expect(report.points == 1)
        let error = #expect(throws: DatabaseError.self) {
            try export.with { database throws(DatabaseError) in
                try importFiles([export.folder], into: database, options: chosen)
            }
        }
        #expect(error?.kind == .notFound)
        #expect(error?.message.contains("only the format beiwe reads directories") == true)
    }

    @Test func `more files than descriptors are read, in few commits`() throws {
        var files: [String: String] = [:]
        for number in 0..<1200 {
            files["\(BeiweExport.patient)/reachability/\(10_000 + number).csv"] =
                "timestamp,event\n\(1_444_362_737_000 + number),wifi\n"
        }
        let export = try BeiweExport(files)
        let commits = CommitList()
        export.options.batchRows = 1000
        export.options.committed = { commits.append($0) }
        let report = try export.load()
        #expect(report.points == 1200)
        #expect(commits.counts == [1000, 1200])
        #expect(
            try export.ask("SELECT count(event) FROM reachability").last?
                .hasSuffix("1200") == true)
    }

    @Test func `a value refused in a shared batch names its own file`() throws {
        let export = try BeiweExport()
        for number in 1...4 {
            try export.write(
                "timestamp,latitude\n\(number)000,\(number % 2 == 0 ? "x" : "1")\n\(number)001\n",
                "\(BeiweExport.patient)/gps/\(number).csv")
        }
        try export.load()
        #expect(
            Set(try export.rejects().map { $0.prefix(8) }) == [
                "1.csv:3:", "2.csv:2:", "2.csv:3:", "3.csv:3:", "4.csv:2:", "4.csv:3:",
            ])
    }
}

/// Points after each commit, in order.
private final class CommitList: Sendable {
    private let list = Mutex([Int]())

    var counts: [Int] { list.withLock { $0 } }

    func append(_ count: Int) { list.withLock { $0.append(count) } }
}
