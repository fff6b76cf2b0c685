// A batch used wrongly: whatever handles it is given, no record comes of it that cannot be read.

internal import CozTestSupport
@testable internal import CozDB
internal import Testing

struct WriteBatchTests {
    private let system = FaultyFileSystem()

    private func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
        try Database.open("db", access: .readWrite, options: options, on: system)
    }

    /// One experiment with a column of each type and a tag set.
    private struct Handles {
        var experiment: WriteBatch.ExperimentHandle
        var float: WriteBatch.ColumnHandle
        var string: WriteBatch.ColumnHandle
        var tags: WriteBatch.TagSetHandle

        init(_ name: String, in batch: inout WriteBatch) {
            experiment = batch.experiment(name.utf8.span)
            float = batch.column(experiment: experiment, name: "x".utf8.span, type: .float)
            string = batch.column(experiment: experiment, name: "s".utf8.span, type: .string)
            tags = batch.tagSet(experiment: experiment, tags: [("id_participant", "p")])
        }
    }

    /// Writes a batch that must be refused, then a good one; both before and after opening again.
    private func expectRefused(
        _ words: String, _ batch: WriteBatch, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let system = FaultyFileSystem()
        func open() throws -> Database {
            try Database.open("db", access: .readWrite, options: DatabaseOptions(), on: system)
        }
        var database = try open()
        let callCount = system.callCount
        for _ in 0..<2 {
            let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
                _ = try database.write(batch)
            }
            #expect(error?.kind == .usage, sourceLocation: sourceLocation)
            #expect(
                error?.message.contains(words) == true, "\(String(describing: error))",
                sourceLocation: sourceLocation)
        }
        #expect(system.callCount == callCount, "nothing is written", sourceLocation: sourceLocation)
        var good = WriteBatch()
        let handles = Handles("good", in: &good)
        good.append(1.0, to: handles.float)
        good.endRow(tagSet: handles.tags, time: 1, line: 1)
        _ = try database.write(good)
        try database.close()
        database = try open()
        #expect(try Contents(database).cells.count == 1, sourceLocation: sourceLocation)
        try database.close()
    }

    // MARK: Handles

    @Test(arguments: [FieldType.float, .string])
    func `a column of another experiment is refused`(type: FieldType) throws {
        var batch = WriteBatch()
        let (a, b) = (Handles("a", in: &batch), Handles("b", in: &batch))
        // Of the same type as one of its own, and of another.
        if type == .float {
            batch.append(1.0, to: a.float)
        } else {
            batch.append(batch.string("t".utf8.span), to: a.string)
        }
        batch.endRow(tagSet: b.tags, time: 1, line: 1)
        try expectRefused("in experiment \"a\" in a row of experiment \"b\"", batch)
    }

    @Test func `a column beyond those of the row's experiment is refused`() throws {
        var batch = WriteBatch()
        let a = Handles("a", in: &batch)
        let b = batch.experiment("b".utf8.span)
        let tags = batch.tagSet(experiment: b, tags: [("id_participant", "p")])
        batch.append(1.0, to: a.float)
        batch.endRow(tagSet: tags, time: 1, line: 1)
        try expectRefused("in experiment \"a\" in a row of experiment \"b\"", batch)
    }

    @Test func `a string of another batch is refused`() throws {
        var batch = WriteBatch()
        var other = WriteBatch()
        for text in ["a", "b", "c"] { _ = other.string(text.utf8.span) }
        let handles = Handles("a", in: &batch)
        batch.append(other.string("d".utf8.span), to: handles.string)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        #expect(batch.rowCount == 0)
        #expect(batch.mistake?.kind == .usage)
        try expectRefused("a string handle is invalid", batch)
    }

    @Test func `a string kept over removeAll is refused, also where its number is taken`() throws {
        var batch = WriteBatch()
        let kept = batch.string("kept".utf8.span)
        batch.removeAll()
        let handles = Handles("a", in: &batch)
        _ = batch.string("another".utf8.span)
        batch.append(kept, to: handles.string)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        try expectRefused("from before removeAll", batch)
    }

    @Test func `columns and tag sets kept over removeAll are refused`() throws {
        var batch = WriteBatch()
        let kept = Handles("a", in: &batch)
        batch.removeAll()
        let handles = Handles("b", in: &batch)
        batch.append(1.0, to: kept.float)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        try expectRefused("a column handle is invalid", batch)
        batch.removeAll()
        let again = Handles("b", in: &batch)
        batch.append(1.0, to: again.float)
        batch.endRow(tagSet: kept.tags, time: 1, line: 1)
        try expectRefused("a tag set handle is invalid", batch)
    }

    @Test func `an experiment that the batch does not have is refused everywhere`() throws {
        var other = WriteBatch()
        let foreign = other.experiment("a".utf8.span)
        let uses: [(inout WriteBatch) -> Void] = [
            { _ = $0.column(experiment: foreign, name: "x".utf8.span, type: .float) },
            { _ = $0.tagSet(experiment: foreign, tags: []) },
            { $0.declare(SchemaPreset.Field("x", .float), experiment: foreign) },
            { $0.suggest(SchemaPreset(name: "p", fields: []), experiment: foreign) },
        ]
        for use in uses {
            var batch = WriteBatch()
            use(&batch)
            try expectRefused("an experiment handle is invalid", batch)
        }
    }

    @Test func `a value of another type than its column is refused`() throws {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        batch.append(1 as Int64, to: handles.float)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        try expectRefused(
            "appended a value of type integer with a handle of \"x\" for type float", batch)
    }

    @Test func `a mistake costs its row alone, and removeAll forgets it`() throws {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        batch.append(1.0, to: handles.float)
        batch.append(true, to: handles.float)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        batch.append(2.0, to: handles.float)
        batch.endRow(tagSet: handles.tags, time: 2, line: 1)
        #expect(batch.rowCount == 1 && batch.valueCount == 1 && batch.mistake != nil)
        batch.removeAll()
        #expect(batch.mistake == nil)
    }

    @Test func `a copy of a batch knows the handles given before`() throws {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        let text = batch.string("t".utf8.span)
        var copy = batch
        let later = batch.column(experiment: handles.experiment, name: "y".utf8.span, type: .float)
        copy.append(1.0, to: handles.float)
        copy.append(text, to: handles.string)
        copy.endRow(tagSet: handles.tags, time: 1, line: 1)
        #expect(copy.mistake == nil && copy.valueCount == 2)
        copy.append(1.0, to: later)
        #expect(copy.mistake?.message.contains("a column handle") == true)
    }

    // MARK: Tag sets

    @Test func `tags in any order are one set, and of two with one name the later one counts`() {
        var batch = WriteBatch()
        let experiment = batch.experiment("a".utf8.span)
        func set(_ tags: [(String, String)]) -> WriteBatch.TagSetHandle {
            batch.beginTagSet(experiment: experiment)
            for tag in tags { batch.addTag(name: tag.0.utf8.span, value: tag.1.utf8.span) }
            return batch.endTagSet()
        }
        let first = set([("a", "1"), ("b", "2"), ("c", "3")])
        #expect(set([("c", "3"), ("a", "1"), ("b", "2")]) == first)
        #expect(set([("b", "0"), ("c", "3"), ("b", "2"), ("a", "1"), ("d", "")]) == first)
        #expect(set([("a", "1"), ("b", "2"), ("c", "3"), ("c", "")]) != first)
        #expect(set([]) == set([("z", "")]))
        #expect(batch.mistake == nil)
    }

    @Test func `a column asked for amid a tag set leaves it alone`() {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        batch.beginTagSet(experiment: handles.experiment)
        _ = batch.column(experiment: handles.experiment, name: "y".utf8.span, type: .float)
        batch.addTag(name: "id_participant".utf8.span, value: "p".utf8.span)
        #expect(batch.endTagSet() == handles.tags)
    }

    @Test func `tags without a set are refused`() throws {
        var batch = WriteBatch()
        #expect(batch.endTagSet() == .none)
        #expect(batch.mistake?.message.contains("endTagSet was called without") == true)
        batch.removeAll()
        batch.addTag(name: "a".utf8.span, value: "b".utf8.span)
        try expectRefused("addTag was called without", batch)
    }

    // MARK: Names, limits and settings

    @Test func `fields and tags called time go to the journal, with the reason`() throws {
        let database = try open()
        var batch = WriteBatch()
        try batch.add(
            experiment: "a", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 0),
            fields: ["time": .float(1), "x": .float(2)])
        try batch.add(
            experiment: "a", tags: ["id_participant": "p", "time": "1"],
            time: Timestamp(nanoseconds: 0),
            fields: ["x": .float(3)])
        let report = try database.write(batch)
        #expect(report.refusedValues == 1 && report.refusedPoints == 1 && report.values == 1)
        #expect(report.examples.allSatisfy { $0.reason.contains("called \"time\"") })
        #expect(report.conflicts.isEmpty)
        #expect(try Contents(database).cells.count == 1)
        try database.close()
    }

    @Test func `the examples of a report are the first few lines, in order`() throws {
        let database = try open()
        var batch = WriteBatch()
        batch.source = "a.lp"
        for line in [9, 3, 8, 4, 7, 5] {
            batch.refuse(
                Refusal(subject: .line([]), reason: "bad", source: "a.lp", line: line))
        }
        let experiment = batch.experiment("dev".utf8.span)
        let tags = batch.tagSet(
            experiment: experiment, tags: [(name: "id_participant", value: "p")])
        let column = batch.column(experiment: experiment, name: "x".utf8.span, type: .float)
        let text = batch.column(experiment: experiment, name: "x".utf8.span, type: .string)
        batch.append(1.5, to: column)
        batch.endRow(tagSet: tags, time: 1, line: 1)
        for line in [6, 2] {
            let far = batch.string("far".utf8.span)
            batch.append(far, to: text)
            batch.endRow(tagSet: tags, time: Int64(line), line: line)
        }
        let report = try database.write(batch)
        #expect(report.refusedPoints + report.refusedValues >= 8)
        #expect(report.examples.map(\.line) == [2, 3, 4, 5, 6])
        try database.close()
    }

    @Test func `attributes count among the columns of an experiment`() throws {
        var options = DatabaseOptions()
        options.columnCountMax = 3
        let database = try open(options)
        var batch = WriteBatch()
        try batch.add(
            experiment: "a", tags: ["id_participant": "p", "b": "1", "c": "2"],
            time: Timestamp(nanoseconds: 0),
            fields: ["x": .float(2)])
        try batch.add(
            experiment: "a", tags: ["id_participant": "p", "d": "1"],
            time: Timestamp(nanoseconds: 0),
            fields: ["x": .float(3)])
        let report = try database.write(batch)
        #expect(report.refusedPoints == 1)
        #expect(report.examples.first?.reason.contains("columnCountMax") == true)
        #expect(try database.schemas()[0].columns.count == 3)
        try database.close()
    }

    @Test func `identities that name no tag are refused`() throws {
        let long = String(repeating: "a", count: 65_536)
        for identity in [Identity.tags([]), .participant(tag: ""), .tags(["a", long])] {
            var batch = WriteBatch()
            batch.settings.identity = identity
            try batch.add(
                experiment: "a", tags: ["a": "p"], time: Timestamp(nanoseconds: 0),
                fields: ["x": .float(2)])
            try expectRefused(identity == .tags([]) ? "without tags" : "identity tag", batch)
        }
    }

    @Test func `refusals with numbers that count nothing are kept`() throws {
        let database = try open()
        var batch = WriteBatch()
        let line = [UInt8](repeating: 0x61, count: Refusal.lineSizeBytesMax + 1)
        batch.refuse(
            Refusal(subject: .line(line), reason: "r", source: "s", line: -1, column: .min))
        #expect(try database.write(batch).refusedPoints == 1)
        let kept = try #require(try Contents(database).refusals.first)
        #expect(kept.line == 0 && kept.column == 0)
        #expect(kept.subject == .line(Array(line.dropLast())))
        try database.close()
        try open().close()
    }

    @Test func `a point is not added amid a row`() throws {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        batch.append(1.0, to: handles.float)
        let error = #expect(throws: DatabaseError.self) {
            try batch.add(
                experiment: "b", tags: [:], time: Timestamp(nanoseconds: 0),
                fields: ["x": .float(2)])
        }
        #expect(error?.kind == .usage && batch.hasOpenRow && batch.rowCount == 0)
    }

    @Test func `renames set too late are a mistake`() throws {
        var batch = WriteBatch()
        _ = Handles("a", in: &batch)
        batch.renames = ["x": "y"]
        try expectRefused("renames were set after", batch)
    }

    // MARK: The second line

    @Test func `a record that cannot be replayed is found before it is written`() throws {
        var batch = WriteBatch()
        let handles = Handles("a", in: &batch)
        batch.append(1.0, to: handles.float)
        batch.endRow(tagSet: handles.tags, time: 1, line: 1)
        var encoder = CommitEncoder(
            batch, schemas: SchemaSet(), options: DatabaseOptions(),
            journal: CommitJournal(), forgotten: ForgottenList())
        let record = try #require(try encoder.encode(batch))
        try Memtable.verify(record, SchemaSet())
        // A tag set, a layout, a time, a value.
        let rowSize = 1 + 1 + 1 + 8
        for place in record.indices.dropLast(rowSize) {
            var schemas = SchemaSet()
            let memtable = Memtable()
            var bad = record
            bad[place] ^= 0x41
            let isApplied =
                (try? memtable.apply(bad, sequence: 1, schemas: &schemas)) != nil
            #expect(((try? Memtable.verify(bad, SchemaSet())) != nil) == isApplied)
        }
    }
}
