// The public interface for writing: any sequence of calls, with whatever arguments, beside a model.
// After each write the database holds what the model holds, and it opens again.

@testable internal import CozDB

/// Bytes are calls: one for the call, one for each of its choices. The first byte of an input is
/// the durability.
struct BatchFuzzing {
    private var bytes: ArraySlice<UInt8>
    private var files: MemoryFiles
    private var database: Database
    private var held = DatabaseModel()
    /// Two batches, so that handles of one can be used with the other.
    private var batches = [WriteBatch(), WriteBatch()]
    private var models = [BatchModel(), BatchModel()]
    private var current = 0
    private var failure: FuzzFailure?
    /// The row that is being added agrees in everything.
    private var isCareful = false
    /// Handles of both batches, none of them ever forgotten.
    private var experiments: [(WriteBatch.ExperimentHandle, BatchModel.Handle<String>)] = []
    private var columns: [(WriteBatch.ColumnHandle, BatchModel.Handle<BatchModel.Column>)] = []
    private var tagSets: [(WriteBatch.TagSetHandle, BatchModel.Handle<BatchModel.TagSet>)] = []
    private var strings: [(WriteBatch.StringHandle, BatchModel.Handle<[UInt8]>)] = []

    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        _ = try valueCount(after: bytes, choice)
    }

    /// The values that the database holds in the end.
    static func valueCount(after bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) -> Int {
        var fuzzing = try BatchFuzzing(bytes)
        // Each call costs a look at everything that is held.
        for _ in 0..<400 where !fuzzing.bytes.isEmpty {
            try fuzzing.step()
            if let failure = fuzzing.failure { throw failure }
        }
        try fuzzing.write()
        try fuzzing.reopen(isClosed: choice & 1 == 0)
        return fuzzing.held.cells.count
    }

    /// Runs what must not fail.
    private static func expect<Value>(
        _ what: String, _ body: () throws(DatabaseError) -> Value
    ) throws(FuzzFailure) -> Value {
        do throws(DatabaseError) {
            return try body()
        } catch {
            throw FuzzFailure("\(what): \(error)")
        }
    }

    private init(_ bytes: [UInt8]) throws(FuzzFailure) {
        self.bytes = bytes[...]
        let files = MemoryFiles()
        database = try BatchFuzzing.expect("opening") { () throws(DatabaseError) in
            try Sample.open(files, .readWrite)
        }
        self.files = files
    }

    private mutating func next(_ count: Int) -> Int {
        guard let byte = bytes.popFirst(), count > 0 else { return 0 }
        return Int(byte) % count
    }

    private mutating func step() throws(FuzzFailure) {
        switch next(24) {
        case 0: addExperiment()
        case 1, 2: addColumn()
        case 3: addTagSet()
        case 4: addTagsOneByOne()
        case 5: addString()
        case 6, 7: append()
        case 8: endRow()
        case 9, 10, 11, 12: addRow()
        case 13:
            batches[current].abandonRow()
            models[current].openRow = []
            models[current].isOpenRowInvalid = false
        case 14:
            batches[current].removeAll()
            models[current].removeAll()
        case 15: current = 1 - current
        case 16:
            batches[1 - current] = batches[current]
            models[1 - current] = models[current]
        case 17: addPoint()
        case 18: addRefusal()
        case 19: declare()
        case 20: try write()
        case 21: configure()
        case 22: try change()
        default: try reopen(isClosed: next(2) == 0)
        }
    }

    /// Remembers what must not be, until the step ends.
    private mutating func note(_ condition: Bool, _ message: String) {
        if !condition, failure == nil { failure = FuzzFailure(message) }
    }

    // MARK: Handles

    private static let names: [[UInt8]] = [
        Array("v".utf8), Array("w".utf8), Array("n\u{e4}her \u{0} ,=".utf8), Array("time".utf8),
        Array("id_participant".utf8), Array("x".utf8), [], [0x61, 0xFF],
        [UInt8](repeating: 0x61, count: 65_536),
    ]
    private static let texts: [String] = [
        "", " ", "a", "2023-03-01T07:42:24.471Z", "2023-03-01T07:42:24Z", "long \u{1F600} text",
    ]

    private mutating func name() -> [UInt8] { BatchFuzzing.names[next(BatchFuzzing.names.count)] }

    /// Good names are met far more often: after one mistake nothing of a batch is stored.
    private mutating func goodName() -> [UInt8] {
        next(200) == 0 ? name() : BatchFuzzing.names[next(3)]
    }

    /// One of the last few as a rule: older ones are of another batch, or of before.
    private mutating func place(in count: Int) -> Int {
        count - 1 - next(next(100) == 0 ? count : min(count, 3))
    }

    private mutating func check(_ name: [UInt8]) {
        if !BatchModel.isName(name) { models[current].isWrong = true }
    }

    private mutating func addExperiment() {
        let name = goodName()
        check(name)
        let text = String(decoding: name, as: UTF8.self)
        experiments.append(
            (
                batches[current].experiment(name.span),
                BatchModel.intern(text, in: &models[current].experiments)
            ))
    }

    /// An experiment to use: any that was ever given, as a rule one of this batch.
    /// Its name is nil where this batch does not have it.
    private mutating func experiment() -> (WriteBatch.ExperimentHandle, String?) {
        if !isCareful, experiments.isEmpty || next(20) != 0 { addExperiment() }
        let (handle, model) =
            experiments[isCareful ? experiments.count - 1 : place(in: experiments.count)]
        if BatchModel.has(model, models[current].experiments) { return (handle, model.content) }
        models[current].isWrong = true
        return (handle, nil)
    }

    private mutating func addColumn() {
        let (experiment, name) = experiment()
        let field = goodName()
        let type = FieldType.allCases[next(4)]
        let isTyped = next(3) > 0
        let handle = batches[current].column(
            experiment: experiment, name: field.span, type: type, isTyped: isTyped)
        guard let name else {
            return note(handle == .none, "a handle where there is none to give")
        }
        check(field)
        let column = models[current].column(name, field, type, isTyped: isTyped)
        columns.append((handle, BatchModel.intern(column, in: &models[current].columns)))
    }

    private static let tags: [[String]] = [
        ["id_participant", "p1"], ["id_participant", "p2"], ["host", "h"], ["host", ""],
        ["a", "b"], ["id_participant", ""], ["time", "1"],
    ]

    private mutating func someTags() -> [[String]] {
        let count = next(4)
        var tags = next(4) > 0 ? [BatchFuzzing.tags[next(2)]] : []
        for _ in 0..<count { tags.append(BatchFuzzing.tags[next(BatchFuzzing.tags.count)]) }
        return tags
    }

    private static func canonical(_ tags: [[String]]) -> [[String]] {
        var byName: [String: String] = [:]
        for tag in tags { byName[tag[0]] = tag[1] }
        return byName.filter { !$0.value.isEmpty }.map { [$0.key, $0.value] }
            .sorted { $0[0] < $1[0] }
    }

    private mutating func note(
        _ handle: WriteBatch.TagSetHandle, _ experiment: String?, _ tags: [[String]]
    ) {
        guard let experiment else {
            return note(handle == .none, "a handle where there is none to give")
        }
        let set = BatchModel.TagSet(
            experiment: experiment, tags: models[current].renamed(BatchFuzzing.canonical(tags)))
        tagSets.append((handle, BatchModel.intern(set, in: &models[current].tagSets)))
    }

    private mutating func addTagSet() {
        let (experiment, name) = experiment()
        let tags = someTags()
        let handle = batches[current].tagSet(
            experiment: experiment, tags: tags.map { ($0[0], $0[1]) })
        note(handle, name, tags)
    }

    /// The calls one by one, also in an order that is none.
    private mutating func addTagsOneByOne() {
        let (experiment, name) = experiment()
        switch next(200) {
        case 0:
            let handle = batches[current].endTagSet()
            note(handle == .none, "a handle where there is none to give")
            models[current].isWrong = true
            return
        case 1:
            let bytes: [UInt8] = [0x61]
            batches[current].addTag(name: bytes.span, value: bytes.span)
            models[current].isWrong = true
            return
        default: break
        }
        let tags = someTags()
        var isWrong = name == nil
        batches[current].beginTagSet(experiment: experiment)
        for tag in tags {
            batches[current].addTag(name: tag[0].utf8.span, value: tag[1].utf8.span)
            // Other calls must not get mixed up with it.
            if next(4) == 0 { addString() }
        }
        if next(50) == 0 {
            let bytes = self.name()
            let value: [UInt8] = [0x62]
            batches[current].addTag(name: bytes.span, value: value.span)
            if BatchModel.isName(bytes) { return endAnyhow() }
            isWrong = true
            models[current].isWrong = true
        }
        let handle = batches[current].endTagSet()
        if isWrong { return note(handle == .none, "a handle where there is none to give") }
        note(handle, name, tags)
    }

    /// Finishes a set that is not worth keeping; its handle is given up.
    private mutating func endAnyhow() {
        let handle = batches[current].endTagSet()
        if handle == .none { return }
        // The model has to count it.
        let set = batches[current].receivedTagSet(Int(handle.number))
        let experiment = models[current].experiments[set.experiment]
        _ = BatchModel.intern(
            BatchModel.TagSet(experiment: experiment, tags: set.tags.map { [$0.name, $0.value] }),
            in: &models[current].tagSets)
    }

    private mutating func addString() {
        let text = Array(BatchFuzzing.texts[next(BatchFuzzing.texts.count)].utf8)
        let handle = batches[current].string(text.span)
        // A time needs no batch: its number says so.
        strings.append(
            (
                handle,
                handle.isTime
                    ? BatchModel.Handle(number: -1, content: text)
                    : BatchModel.intern(text, in: &models[current].strings)
            ))
    }

    // MARK: Points

    private static let doubles: [Double] = [
        0, -0.0, 1, 2.5, .nan, .infinity, 0x1p53, 0x1p63, -0x1p63, .leastNonzeroMagnitude,
    ]
    private static let integers: [Int64] = [0, 1, -1, .max, .min, 1 << 53, 1 << 53 + 1]

    private mutating func append() {
        if isCareful || columns.isEmpty || next(3) != 0 { addColumn() }
        guard !columns.isEmpty else { return }
        let (handle, model) = columns[isCareful ? columns.count - 1 : place(in: columns.count)]
        // As a rule a value of the column's type.
        let type = !isCareful && next(20) == 0 ? FieldType.allCases[next(4)] : model.content.type
        var value: FieldValue
        var isKnown = true
        switch type {
        case .float:
            let number = BatchFuzzing.doubles[next(BatchFuzzing.doubles.count)]
            batches[current].append(number, to: handle)
            value = .float(number)
        case .integer:
            let number = BatchFuzzing.integers[next(BatchFuzzing.integers.count)]
            batches[current].append(number, to: handle)
            value = .integer(number)
        case .boolean:
            let flag = next(2) == 0
            batches[current].append(flag, to: handle)
            value = .boolean(flag)
        case .string:
            if isCareful || strings.isEmpty || next(20) != 0 { addString() }
            let isLast = isCareful && next(8) > 0
            let (string, known) = strings[
                isLast ? strings.count - 1 : next(strings.count)]
            batches[current].append(string, to: handle)
            value = .string(String(decoding: known.content, as: UTF8.self))
            isKnown = known.number < 0 || BatchModel.has(known, models[current].strings)
        }
        if isKnown, type == model.content.type, BatchModel.has(model, models[current].columns) {
            models[current].openRow.append((model.content, value))
        } else {
            models[current].isWrong = true
            models[current].isOpenRowInvalid = true
        }
    }

    private static let times: [Int64] = [
        0, 1, -1, 1_700_000_000_000_000_000, .min, .max, Timestamp.min.nanoseconds,
        Timestamp.max.nanoseconds,
    ]

    private mutating func endRow() {
        if isCareful || tagSets.isEmpty || next(20) != 0 { addTagSet() }
        guard !tagSets.isEmpty else { return }
        let (handle, model) = tagSets[isCareful ? tagSets.count - 1 : place(in: tagSets.count)]
        let time = BatchFuzzing.times[next(BatchFuzzing.times.count)]
        let line = [1, 0, -5, Int.max, Int.min][next(5)]
        batches[current].endRow(tagSet: handle, time: time, line: line)
        let isGood = BatchModel.has(model, models[current].tagSets)
        if isGood, !models[current].isOpenRowInvalid {
            models[current].addRow(model.content, time: time)
        } else {
            models[current].isWrong = true
        }
        models[current].openRow = []
        models[current].isOpenRowInvalid = false
    }

    /// A row as most callers add one.
    private mutating func addRow() {
        addExperiment()
        isCareful = true
        for _ in 0...next(4) { append() }
        endRow()
        isCareful = false
    }

    private mutating func addPoint() {
        let experiment = String(decoding: goodName(), as: UTF8.self)
        let tags = someTags()
        let names = (0..<next(3)).map { _ in String(decoding: goodName(), as: UTF8.self) }
        let number = Double(next(4))
        var byName: [String: String] = [:]
        for tag in tags { byName[tag[0]] = tag[1] }
        let fields = Dictionary(
            names.map { ($0, FieldValue.float(number)) }, uniquingKeysWith: { $1 })
        let isGood =
            BatchModel.isName(Array(experiment.utf8)) && !fields.isEmpty
            && fields.keys.allSatisfy { BatchModel.isName(Array($0.utf8)) }
            && models[current].openRow.isEmpty && !models[current].isOpenRowInvalid
        var isAdded = true
        do throws(DatabaseError) {
            try batches[current].add(
                experiment: experiment, tags: byName, time: Timestamp(nanoseconds: 7),
                fields: fields)
        } catch {
            isAdded = false
        }
        note(isAdded == isGood, "add(...) takes in, or refuses, what it must not")
        guard isAdded else { return }
        let set = BatchModel.TagSet(
            experiment: experiment, tags: models[current].renamed(BatchFuzzing.canonical(tags)))
        _ = BatchModel.intern(experiment, in: &models[current].experiments)
        _ = BatchModel.intern(set, in: &models[current].tagSets)
        for (name, value) in fields.sorted(by: { Name($0.key) < Name($1.key) }) {
            let column = models[current].column(
                experiment, Array(name.utf8), .float, isTyped: true)
            _ = BatchModel.intern(column, in: &models[current].columns)
            models[current].openRow.append((column, value))
        }
        models[current].addRow(set, time: 7)
        models[current].openRow = []
    }

    private mutating func addRefusal() {
        let number = [0, -1, Int.max, Int.min][next(4)]
        batches[current].refuse(
            Refusal(
                subject: .line([0xFF, UInt8(next(3))]), reason: "r", source: "s", line: number,
                column: number))
        models[current].refusedLines += 1
    }

    private mutating func declare() {
        switch next(3) {
        case 0:
            batches[current].isAllOrNothing.toggle()
            models[current].isAllOrNothing.toggle()
        case 1: batches[current].source = "file \(next(3))"
        default:
            let (experiment, name) = experiment()
            if let name { models[current].declared.append(name) }
            batches[current].declare(
                SchemaPreset.Field("declared", .integer), experiment: experiment)
        }
    }

    /// Settings and renames, as a rule of an empty batch: later ones are a mistake.
    private mutating func configure() {
        if next(10) > 0 {
            batches[current].removeAll()
            models[current].removeAll()
        }
        if next(2) == 0 {
            let rule = [nil, TypeRule.lossless, .strict][next(3)]
            batches[current].settings.typeRule = rule
            models[current].typeRule = rule
            return
        }
        let renames = [[:], ["w": "v"], ["w": "v", "host": "a"], ["v": "x", "a": "c"]][next(4)]
        batches[current].renames = renames
        if !models[current].columns.isEmpty || !models[current].tagSets.isEmpty {
            models[current].isWrong = true
        }
        models[current].renames = renames
    }

    // MARK: The database

    /// Deletes, drops or alters.
    private mutating func change() throws(FuzzFailure) {
        let experiment = ["v", "w"][next(2)]
        let field = ["v", "w", "x"][next(3)]
        var after = held
        var statement = "DROP MEASUREMENT \"\(experiment)\""
        var isGood = held.has(experiment)
        switch next(8) {
        case 0: after.drop(experiment)
        case 1, 2:
            statement = "DELETE \"\(field)\" FROM \"\(experiment)\""
            isGood = isGood && held.type(experiment, field) != nil
            after.delete(experiment, field: field)
        default:
            let type = [FieldType.float, .string][next(2)]
            statement = "ALTER EXPERIMENT \"\(experiment)\" FIELD \"\(field)\" TYPE \(type.name)"
            isGood = after.alter(experiment, field: field, to: type)
        }
        var failure: DatabaseError?
        do throws(DatabaseError) {
            _ = try database.execute(statement)
        } catch {
            failure = error
        }
        try require(
            failure.map { [.usage, .notFound].contains($0.kind) } ?? true,
            "\(statement): \(failure as Any)")
        try require((failure == nil) == isGood, "\(statement): \(failure as Any), \(isGood)")
        if isGood { held = after }
        try compare()
    }

    private mutating func write() throws(FuzzFailure) {
        let outcome = held.write(models[current])
        var report: WriteReport?
        do throws(DatabaseError) {
            report = try database.write(batches[current])
        } catch {
            try require(error.kind == .usage, "an error of another kind: \(error)")
        }
        try require(
            (report == nil) == outcome.isRefused, "\(report as Any) for \(models[current])")
        if let report {
            try require(
                report.refusedPoints == outcome.refusedPoints
                    && report.refusedValues == outcome.refusedValues,
                "refuses \(report), expected \(outcome)")
        }
        if next(4) > 0 {
            batches[current].removeAll()
            models[current].removeAll()
        }
        try compare()
    }

    /// - Parameter isClosed: false leaves the files as a crash would.
    private mutating func reopen(isClosed: Bool) throws(FuzzFailure) {
        let (database, crashed) = (database, files.files)
        let flushes = next(2) == 0
        try BatchFuzzing.expect("closing") { () throws(DatabaseError) in
            if flushes { try database.flush() }
            try database.close()
        }
        if !isClosed { files = MemoryFiles(crashed) }
        let files = files
        self.database = try BatchFuzzing.expect("opening again") { () throws(DatabaseError) in
            try Sample.open(files, .readWrite)
        }
        try compare()
    }

    private func compare() throws(FuzzFailure) {
        for access in [DatabaseAccess.readWrite, .readOnly] {
            let found = try BatchFuzzing.expect("reading") { () throws(DatabaseError) in
                let open = access == .readWrite ? database : try Sample.open(files, .readOnly)
                return try BatchFuzzing.cells(of: open)
            }
            try require(
                found == held.cells, "\(access) finds \(found)\nexpected \(held.cells)")
        }
    }

    private static func cells(
        of database: Database
    ) throws(DatabaseError) -> [DatabaseModel.Cell: FieldValue] {
        var cells: [DatabaseModel.Cell: FieldValue] = [:]
        for view in try database.takeSnapshot().experiments {
            for series in try view.series() {
                var cursor = view.rows(
                    of: series, columns: view.schema.columns.map(\.id), in: .all)
                var block = ColumnBatch()
                while try cursor.next(into: &block) {
                    for (index, column) in block.columns.enumerated() {
                        for row in 0..<block.count {
                            guard let value = column.value(row) else { continue }
                            let cell = DatabaseModel.Cell(
                                experiment: view.schema.name,
                                participant: series.key.value(of: "id_participant") ?? "",
                                time: block.times[row], column: view.schema.columns[index].name,
                                isAttribute: view.schema.columns[index].kind == .attribute)
                            cells[cell] = value
                        }
                    }
                }
            }
        }
        return cells
    }
}
