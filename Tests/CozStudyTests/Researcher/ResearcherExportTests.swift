// What the researcher API delivers: which columns, which rows, in which order.

internal import CozDB
internal import Testing

@testable internal import CozStudy

struct ResearcherExportTests {
    private let study: ResearcherStudy
    private static let second: Int64 = 1_000_000_000
    private static let day: Int64 = 86_400 * second

    init() throws {
        study = try ResearcherStudy()
    }

    /// The parts of the lines behind row number and time.
    private func rows(_ change: (inout ResearcherRequest) -> Void = { _ in }) throws -> [String] {
        try study.export(change).split(separator: "\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).dropFirst(2)
                .joined(separator: ",")
        }
    }

    @Test func `tags first, then fields in byte order, without those that have no value`() throws {
        let tags = ["id_participant": "p", "id_password": "pw", "id_onesignal": "o"]
        try study.write(["ts_altitude": .integer(3), "ts_HRV": .float(1.5)], tags: tags)
        try study.write(["ts_BMI": .float(20)], tags: ["id_participant": "q"])
        #expect(
            try rows { $0.participants = ["p"] } == [
                "id_participant,id_password,ts_HRV,ts_altitude", "p,pw,1.5,3",
            ])
        #expect(try rows { $0.participants = ["q"] } == ["id_participant,ts_BMI", "q,20"])
        #expect(
            try rows { ($0.participants, $0.keepsEmptyColumns) = (["q"], true) } == [
                "id_participant,ts_BMI,ts_HRV,ts_altitude", "q,20,,",
            ])
        #expect(try rows { $0.participants = ["q", "p"] }.count == 3, "rows of one time are two")
    }

    @Test func `id_device stands between participant and password`() throws {
        try study.write(
            ["x": .float(1)], tags: ["id_participant": "p", "id_device": "d", "id_password": "w"])
        #expect(try rows() == ["id_participant,id_device,id_password,x", "p,d,w,1"])
    }

    @Test func `with all tags as the identity, participants are tags, passwords tags or fields`()
        throws
    {
        var settings = ExperimentSettings()
        settings.identity = .allTags
        try study.write(
            ["x": 1, "y": 1], tags: ["id_participant": "p1", "id_password": "s1"],
            settings: settings)
        try study.write(
            ["x": 2, "id_participant": "p1", "id_password": "s1"],
            tags: ["id_participant": "p2", "id_password": "s2"], settings: settings)
        func values(_ change: (inout ResearcherRequest) -> Void) throws -> [String] {
            try rows {
                $0.columns = ["x"]
                change(&$0)
            }.dropFirst().compactMap { $0.split(separator: ",").last.map(String.init) }
        }
        #expect(try values { $0.participants = ["p1"] } == ["1"])
        #expect(try values { $0.password = "s1" }.sorted() == ["1", "2"])
        #expect(try values { $0.password = "s2" } == ["2"])
    }

    @Test(arguments: [Identity.standard, .allTags])
    func `a password can be a field`(identity: Identity) throws {
        var settings = ExperimentSettings()
        settings.identity = identity
        for password in ["s1", "s2"] {
            try study.write(
                ["x": .string(password), "id_password": .string(password)],
                tags: ["id_participant": password], settings: settings)
        }
        #expect(
            try rows { ($0.password, $0.columns) = ("s1", ["x"]) }.last?.hasSuffix("s1") == true)
    }

    @Test func `rows come by time, and only those with a field asked for`() throws {
        try study.write(["x": .float(2)], at: 2 * Self.second)
        try study.write(["x": .float(1), "y": .boolean(true)], at: Self.second)
        try study.write(["y": .boolean(false)], at: 3 * Self.second)
        #expect(
            try rows { $0.columns = ["y", "x"] } == [
                "id_participant,id_password,y,x", "p,pw,True,1.0", "p,pw,,2.0", "p,pw,False,",
            ])
        #expect(try rows { $0.columns = ["x"] }.count == 3)
        #expect(try rows { $0.columns = ["x", "x"] }[0] == "id_participant,id_password,x,x_1")
        #expect(try study.export { $0.columns = ["id_password"] } == ",index\n", "as InfluxDB")
    }

    @Test func `thousands of participants can be named`() throws {
        try study.write(["x": .float(1)])
        let names = (0..<5000).map { "p\($0)" } + ["p"]
        #expect(
            try rows { $0.participants = names } == ["id_participant,id_password,x", "p,pw,1"])
    }

    @Test func `a wrong password and an unknown participant give no rows`() throws {
        try study.write(["x": .float(1)])
        try study.write(["x": .float(2)], at: 5, tags: ["id_participant": "p"])
        #expect(try rows { $0.password = "pw" } == ["id_participant,id_password,x", "p,pw,1"])
        #expect(try study.export { $0.password = "other" } == ",index\n")
        #expect(try study.export { $0.password = "pw' OR 'a'='a" } == ",index\n")
        #expect(try study.export { $0.participants = ["nobody"] } == ",index\n")
        #expect(try rows { $0.password = "" } == ["id_participant,x", "p,2"])
    }

    @Test func `days count back from now, and from and to bound half open`() throws {
        for number in 0..<5 {
            try study.write(
                ["x": .integer(Int64(number))],
                at: ResearcherStudy.start - Int64(number) * Self.day)
        }
        #expect(try rows { $0.days = 2 }.count == 1 + 2, "the bound itself is left out")
        #expect(try study.export { $0.days = 0 } == ",index\n")
        let bounded = try rows {
            $0.from = Timestamp(nanoseconds: ResearcherStudy.start - 3 * Self.day)
            $0.to = Timestamp(nanoseconds: ResearcherStudy.start - Self.day)
        }
        #expect(bounded.dropFirst().map(\.last) == ["3", "2"])
        #expect(throws: DatabaseError.self) { try study.export { $0.days = -1 } }
    }

    @Test func `a field named index moves the times to level_0, as in pandas`() throws {
        try study.write(["index": .string("a"), "x": .integer(1)])
        let export = try study.export()
        #expect(export.hasPrefix(",level_0,id_participant,id_password,index,x\n0,2025-"))
        let other = try ResearcherStudy()
        try other.import(export)
        #expect(try other.export() == export)
        try study.write(["level_0": .integer(1)])
        let error = #expect(throws: DatabaseError.self) { try study.export() }
        #expect(error?.message.contains("level_0") == true)
    }

    @Test func `a field with the name of a tag goes before it, as in InfluxDB`() throws {
        try study.write(["id_password": .string("f"), "x": .float(1)])
        #expect(try rows() == ["id_participant,id_password,id_password_1,x", "p,f,f,1"])
    }

    @Test func `a participant tag of another name is the column id_participant`() throws {
        try study.write(
            ["x": .float(1)], tags: ["host": "h"],
            settings: ExperimentSettings(identity: .participant(tag: "host")))
        #expect(try rows { $0.participants = ["h"] } == ["id_participant,x", "h,1"])
    }

    @Test func `rows that tags tell apart stay apart`() throws {
        let settings = ExperimentSettings(identity: .allTags)
        for device in ["a", "b"] {
            try study.write(
                ["x": .float(1)], tags: ["id_participant": "p", "id_device": device],
                settings: settings)
        }
        #expect(try rows() == ["id_participant,id_device,x", "p,a,1", "p,b,1"])
    }

    @Test func `hostile names ask for nothing else`() throws {
        let names = ["a\"b", "c\\", "d'e", "f\ng", "SELECT", "*", "😀", "x y,z"]
        for name in names {
            try study.write(
                [name: .string(name)], at: 7, tags: ["id_participant": name, "id_password": name])
        }
        for name in names {
            let rows = try rows { ($0.participants, $0.password) = ([name], name) }
            #expect(!rows.isEmpty, "\(name)")
        }
        #expect(
            try rows { $0.participants = ["c\\"] } == [
                "id_participant,id_password,c\\", "c\\,c\\,c\\",
            ])
    }

    @Test func `what nobody can mean is an error that says what there is`() throws {
        try study.write(["ts_heart_rate": .float(1)])
        let column = #expect(throws: DatabaseError.self) {
            try study.export { $0.columns = ["ts_hart_rate"] }
        }
        #expect(column?.kind == .usage && column?.message.contains("ts_heart_rate") == true)
        let experiment = #expect(throws: DatabaseError.self) {
            try study.export { $0.experiment = "def" }
        }
        #expect(experiment?.kind == .notFound && experiment?.message.contains("dev") == true)
        #expect(throws: DatabaseError.self) { try study.export { $0.zone = "Mars/Olympus" } }
    }

    @Test func `what is being written meanwhile is not in it`() throws {
        try study.write(["x": .integer(1)])
        let snapshot = try study.database.snapshot()
        try study.write(["x": .float(2), "y": .float(1)], at: 1)
        let request = ResearcherRequest(experiment: "dev", now: Timestamp(nanoseconds: 0))
        var text = ""
        let summary = try ResearcherExport(request).write(from: snapshot) {
            text += String(decoding: $0, as: UTF8.self)
        }
        #expect(summary.rows == 1 && summary.columns == ["id_participant", "id_password", "x"])
        #expect(text.hasSuffix(",p,pw,1\n"))
    }
}
