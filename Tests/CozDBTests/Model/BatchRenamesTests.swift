// Fields and tags that a batch stores under other names.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct BatchRenamesTests {
    private let directory = TemporaryDirectory()

    /// One point with fields in the order given.
    private func add(
        _ fields: [(String, FieldValue)], time: Int64 = 1,
        tags: [(name: String, value: String)] = [("id_participant", "p")],
        to batch: inout WriteBatch
    ) {
        let experiment = batch.experiment("dev".utf8.span)
        let tagSet = batch.tagSet(experiment: experiment, tags: tags)
        for (name, value) in fields {
            let column = batch.column(
                experiment: experiment, name: name.utf8.span, type: value.type)
            switch value {
            case .float(let number): batch.append(number, to: column)
            case .integer(let number): batch.append(number, to: column)
            case .boolean(let flag): batch.append(flag, to: column)
            case .string(let text): batch.append(batch.string(text.utf8.span), to: column)
            }
        }
        batch.endRow(tagSet: tagSet, time: time, line: 1)
    }

    /// The first row of the stored values, by title.
    private func stored(_ batch: WriteBatch) throws -> [String: FieldValue] {
        let database = try Database.open(directory.path)
        _ = try database.write(batch)
        let result = try database.query("SELECT * FROM dev")
        let series = try #require(result.statements.first?.series.first)
        var values: [String: FieldValue] = [:]
        for (index, column) in series.header.columns.enumerated() where !column.isTime {
            values[column.name] = series.columns[index].value(0)
        }
        try database.close()
        return values
    }

    @Test func `values of the old name are stored under the new one and counted`() throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new", "unused": "other"]
        add([("old", .float(1)), ("x", .float(2))], to: &batch)
        let applied = batch.appliedRenames
        #expect(applied.count == 1)
        #expect(applied.first?.from == "old")
        #expect(applied.first?.to == "new")
        #expect(applied.first?.renamed == 1)
        #expect(applied.first?.kept == 0)
        let values = try stored(batch)
        #expect(values["new"] == .float(1))
        #expect(values["old"] == nil)
        #expect(values["x"] == .float(2))
    }

    @Test(arguments: [["old", "new"], ["new", "old"]])
    func `a point with both names keeps both, in whatever order`(_ order: [String]) throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new"]
        add(order.map { ($0, .float($0 == "old" ? 1 : 2)) }, to: &batch)
        #expect(batch.appliedRenames.map(\.kept) == [1])
        #expect(batch.appliedRenames.map(\.renamed) == [0])
        let values = try stored(batch)
        #expect(values["old"] == .float(1))
        #expect(values["new"] == .float(2))
    }

    @Test func `both names count also where their types differ`() throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new"]
        add([("old", .string("a")), ("new", .float(2))], to: &batch)
        let values = try stored(batch)
        #expect(values["old"] == .string("a"))
        #expect(values["new"] == .float(2))
    }

    @Test func `of two old names of one field the first in the point takes the new name`() throws {
        var batch = WriteBatch()
        batch.renames = ["a": "new", "b": "new"]
        add([("b", .float(1)), ("a", .float(2))], to: &batch)
        add([("a", .float(3))], time: 2, to: &batch)
        #expect(batch.appliedRenames.map(\.renamed).reduce(0, +) == 2)
        let values = try stored(batch)
        #expect(values["new"] == .float(1))
        #expect(values["a"] == .float(2))
    }

    @Test func `of two values under one old name the later one wins`() throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new"]
        add([("old", .float(1)), ("old", .float(2))], to: &batch)
        let values = try stored(batch)
        #expect(values["new"] == .float(2))
        #expect(values["old"] == nil)
    }

    @Test func `a later value of the field that takes the new name wins, too`() throws {
        var batch = WriteBatch()
        batch.renames = ["a": "new", "b": "new"]
        add([("a", .float(1)), ("b", .float(2)), ("a", .float(3))], to: &batch)
        let values = try stored(batch)
        #expect(values["new"] == .float(3))
        #expect(values["b"] == .float(2))
        #expect(values["a"] == nil)
    }

    @Test func `names may be exchanged`() throws {
        var batch = WriteBatch()
        batch.renames = ["a": "b", "b": "a"]
        add([("a", .float(1))], to: &batch)
        let values = try stored(batch)
        #expect(values["b"] == .float(1))
        #expect(values["a"] == nil)
    }

    @Test(arguments: ["abc", "acb", "bac", "bca", "cab", "cba"])
    func `a chain of renames keeps each value under its name`(order: String) throws {
        var batch = WriteBatch()
        batch.renames = ["a": "b", "b": "c"]
        let all = ["a": 1.0, "b": 2, "c": 3]
        add(order.map { (String($0), .float(all[String($0)] ?? 0)) }, to: &batch)
        let values = try stored(batch)
        #expect(values["a"] == .float(1))
        #expect(values["b"] == .float(2))
        #expect(values["c"] == .float(3))
    }

    @Test func `a point with both names of an exchange keeps both`() throws {
        var batch = WriteBatch()
        batch.renames = ["a": "b", "b": "a"]
        add([("a", .float(1)), ("b", .float(2))], to: &batch)
        let values = try stored(batch)
        #expect(values["a"] == .float(1))
        #expect(values["b"] == .float(2))
    }

    @Test func `names are compared byte by byte`() throws {
        var batch = WriteBatch()
        // The same letter composed and decomposed.
        batch.renames = ["caf\u{E9}": "new"]
        add([("cafe\u{301}", .float(1))], to: &batch)
        #expect(batch.appliedRenames.isEmpty)
        batch.removeAll()
        add([("caf\u{E9}", .float(1))], to: &batch)
        #expect(batch.appliedRenames.map(\.renamed) == [1])
    }

    @Test func `tags are renamed too, and their points counted`() throws {
        var batch = WriteBatch()
        batch.renames = ["user": "id_participant", "id_one_signal": "id_onesignal"]
        let tags = [(name: "id_one_signal", value: "s"), (name: "user", value: "p7")]
        add([("x", .float(1))], tags: tags, to: &batch)
        add([("x", .float(1))], time: 2, tags: tags, to: &batch)
        let applied = batch.appliedRenames
        #expect(applied.allSatisfy { $0.isTag && $0.renamed == 2 && $0.kept == 0 })
        #expect(applied.map(\.from).sorted() == ["id_one_signal", "user"])
        let values = try stored(batch)
        #expect(values["id_participant"] == .string("p7"))
        #expect(values["id_onesignal"] == .string("s"))
    }

    @Test func `tags keep their names where a point has both`() throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new"]
        let tags = [
            (name: "id_participant", value: "p"), (name: "new", value: "2"),
            (name: "old", value: "1"),
        ]
        add([("x", .float(1))], tags: tags, to: &batch)
        #expect(batch.appliedRenames.map(\.kept) == [1])
        let values = try stored(batch)
        #expect(values["old"] == .string("1"))
        #expect(values["new"] == .string("2"))
    }

    @Test func `an emptied batch forgets what it renamed, not the names`() throws {
        var batch = WriteBatch()
        batch.renames = ["old": "new"]
        add([("old", .float(1))], to: &batch)
        batch.removeAll()
        #expect(batch.appliedRenames.isEmpty)
        add([("x", .float(1)), ("old", .float(2))], to: &batch)
        #expect(try stored(batch)["new"] == .float(2))
    }
}
