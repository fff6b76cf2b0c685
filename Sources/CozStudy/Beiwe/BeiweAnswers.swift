// Converts the answers of one survey file. The file becomes one point with a field per question,
// and one point per question with its wording.

internal import CozDB
internal import CozImport

/// Collects the answers of one file.
struct BeiweAnswers {
    /// The maximum number of questions per file. Further ones are refused. Each question takes one
    /// nanosecond of the time of `survey_questions`.
    static let questionCountMax = 10_000
    /// The most bytes of the rows of a file, which are held in memory.
    static let sizeBytesMax = 16 << 20

    /// Returns the field of `survey_answers` for a question. `time` and the survey field are
    /// reserved.
    static func field(_ question: String) -> String {
        BeiweHeader.fieldName(question, besides: ["time", BeiweHeader.survey])
    }

    /// The cells of a row, in header order.
    private struct Row {
        var cells: [String]
        var line: Int
    }

    private let header: BeiweHeader
    private let source: BeiweSource
    private let answerColumn: Int
    private var rows: [Row] = []
    private var sizeBytes = 0
    private var questions: Set<Name> = []
    /// A hash of the contents. It distinguishes surveys sent in the same millisecond.
    private var identity: UInt64 = 0

    /// - Parameter header: must satisfy `BeiweHeader.isAnswers`.
    init(_ header: BeiweHeader, _ source: BeiweSource) {
        self.header = header
        self.source = source
        answerColumn = header.names.count - 1
        if let survey = source.survey {
            identity = IdentityHash(BeiweHeader.survey, survey).value
        }
    }

    /// Adds a row, or refuses it.
    mutating func add(_ row: CSVRow, of block: CSVBlock, into batch: inout WriteBatch) {
        if block.isBlank(row) { return }
        if let (reason, column) = problem(row, block) {
            return block.refuse(row, into: &batch, column: column, reason: reason)
        }
        let cells = block.cells[row.cells].map {
            String(decoding: block.bytes.copy($0.range), as: UTF8.self)
        }
        sizeBytes += cells.reduce(0) { $0 + $1.utf8.count }
        questions.insert(Name(cells[0]))
        rows.append(Row(cells: cells, line: row.line))
        for (name, cell) in zip(header.names, cells) where !cell.isEmpty {
            // Hashes are summed, so the row number is hashed to make the order count.
            identity &+= IdentityHash("\(rows.count) \(name)", cell).value
        }
    }

    private func problem(_ row: CSVRow, _ block: CSVBlock) -> (String, column: Int)? {
        if let fault = block.fault(of: row) { return (fault.reason, fault.column) }
        if row.cells.count != header.names.count {
            return (
                "found \(row.cells.count) cells, expected \(header.names.count) as in the header", 0
            )
        }
        if source.milliseconds == nil {
            return (
                "found no time in the file name, expected a name such as 2022-03-14 "
                    + "16_32_56+00_00.csv", 0
            )
        }
        if block.bytes.firstInvalidUTF8(in: row.text) != nil {
            return ("found invalid UTF-8, expected UTF-8", 0)
        }
        let question = block.cells[row.cells.lowerBound].range
        if question.isEmpty { return ("found no question id, expected one in the first cell", 1) }
        let name = String(decoding: block.bytes.copy(question), as: UTF8.self)
        if BeiweAnswers.field(name).utf8.count > 65_535 {
            return (
                "found a question id of \(question.count) bytes, expected at most 65535 bytes", 1
            )
        }
        if questions.contains(Name(name)) {
            return ("found question \"\(name)\" twice, expected each question once per file", 1)
        }
        if row.text.count > BeiweAnswers.sizeBytesMax - sizeBytes {
            return ("found more than 16 MiB of answers, expected at most that per file", 0)
        }
        if rows.count >= BeiweAnswers.questionCountMax {
            return (
                "found more than \(BeiweAnswers.questionCountMax) questions, expected at most "
                    + "\(BeiweAnswers.questionCountMax) per file", 0
            )
        }
        return nil
    }

    func finish(
        into batch: inout WriteBatch, tags: [(name: String, value: String)],
        questionTags: [(name: String, value: String)],
        ordinals: inout AnswerOrdinals, declared: inout DeclaredQuestions
    ) {
        guard let milliseconds = source.milliseconds, !rows.isEmpty else { return }
        let ordinal = ordinals.ordinal(source.patient, milliseconds, identity)
        let time = milliseconds * 1_000_000
        let experiment = batch.experiment(BeiweStream.surveyAnswers.name.utf8.span)
        batch.suggest(BeiweStream.surveyAnswers.preset, experiment: experiment)
        for row in rows where !row.cells[answerColumn].isEmpty {
            append(
                row.cells[answerColumn], BeiweAnswers.field(row.cells[0]), experiment, to: &batch)
        }
        if let survey = source.survey {
            append(survey, BeiweHeader.survey, experiment, to: &batch)
        }
        if batch.hasOpenRow {
            batch.endRow(
                tagSet: batch.tagSet(experiment: experiment, tags: tags),
                time: time + Int64(ordinal), line: rows[0].line)
        }
        for row in rows { declared.declare(row.cells, header, experiment, in: &batch) }
        addQuestions(
            time + Int64(ordinal * BeiweAnswers.questionCountMax),
            questionTags, to: &batch)
    }

    /// Adds one point per question, in file order.
    private func addQuestions(
        _ time: Int64, _ tags: [(name: String, value: String)], to batch: inout WriteBatch
    ) {
        let experiment = batch.experiment(BeiweStream.surveyQuestions.name.utf8.span)
        batch.suggest(BeiweStream.surveyQuestions.preset, experiment: experiment)
        let tagSet = batch.tagSet(experiment: experiment, tags: tags)
        for (index, row) in rows.enumerated() {
            for (name, cell) in zip(header.names, row.cells) where !cell.isEmpty {
                append(cell, name, experiment, to: &batch)
            }
            if let survey = source.survey {
                append(survey, BeiweHeader.survey, experiment, to: &batch)
            }
            if let number = BeiweAnswers.number(row.cells[answerColumn]) {
                let column = batch.column(
                    experiment: experiment, name: "number".utf8.span, type: .float)
                batch.append(column: column, bits: number.bitPattern)
            }
            batch.endRow(tagSet: tagSet, time: time + Int64(index), line: row.line)
        }
    }

    /// Returns the number that an answer is; nil if it is none. Hexadecimal digits are text.
    private static func number(_ text: String) -> Double? {
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    private func append(
        _ text: String, _ name: String, _ experiment: WriteBatch.ExperimentHandle,
        to batch: inout WriteBatch
    ) {
        let column = batch.column(experiment: experiment, name: name.utf8.span, type: .string)
        batch.append(column: column, bits: batch.string(text.utf8.span).bits)
    }
}

/// Numbers the surveys that one patient sent in the same second.
///
/// Each takes as many nanoseconds as a file may have questions. Those that do not fit into their
/// millisecond take what the next one has free.
struct AnswerOrdinals {
    private struct Key: Hashable {
        var patient: Name
        /// Milliseconds, or places in time.
        var number: Int64
    }

    private static let placesPerMillisecond = 1_000_000 / Int64(BeiweAnswers.questionCountMax)
    private var identities: [Key: [UInt64: Int]] = [:]
    /// The ordinal to try for the next survey of a millisecond.
    private var next: [Key: Int] = [:]
    private var taken: Set<Key> = []

    /// Returns the ordinal of an equal survey, or the next free one.
    mutating func ordinal(_ patient: String, _ milliseconds: Int64, _ identity: UInt64) -> Int {
        let patient = Name(patient)
        let key = Key(patient: patient, number: milliseconds)
        if let known = identities[key]?[identity] { return known }
        var ordinal = next[key] ?? 0
        let first = milliseconds * AnswerOrdinals.placesPerMillisecond
        while !taken.insert(Key(patient: patient, number: first + Int64(ordinal))).inserted {
            ordinal += 1
        }
        identities[key, default: [:]][identity] = ordinal
        next[key] = ordinal + 1
        return ordinal
    }
}

/// The questions already declared in this import.
struct DeclaredQuestions {
    private var cellsByQuestion: [Name: [Name]] = [:]

    /// Declares the field of a question with its wording and answer options.
    ///
    /// - Parameter cells: the row that contains the answer.
    mutating func declare(
        _ cells: [String], _ header: BeiweHeader, _ experiment: WriteBatch.ExperimentHandle,
        in batch: inout WriteBatch
    ) {
        let asked = cells.dropLast().map { Name($0) }
        let limit = DatabaseOptions.nameSizeBytesMax
        guard cellsByQuestion[asked[0]] != asked, asked.allSatisfy({ $0.text.utf8.count <= limit })
        else { return }
        cellsByQuestion[asked[0]] = asked
        func cell(_ name: String) -> String {
            header.names.firstIndex(of: name).map { cells[$0] } ?? ""
        }
        let offered = cell("question answer options")
        let options = DeclaredQuestions.options(offered)
        let note = [cell("question type"), options.isEmpty ? offered : ""].filter { !$0.isEmpty }
        batch.declare(
            SchemaPreset.Field(
                BeiweAnswers.field(cells[0]), .string, note: note.joined(separator: ": "),
                question: cell("question text"), options: options),
            experiment: experiment)
    }

    /// Parses `[a;b]` (iOS) or `[a; b]` (Android). Returns no options for anything else, such as
    /// `min = 0; max = 10`.
    private static func options(_ text: String) -> [String] {
        guard text.hasBytePrefix("["), text.hasByteSuffix("]"), text.utf8.count > 2 else {
            return []
        }
        let list = String(decoding: text.utf8.dropFirst().dropLast(), as: UTF8.self)
        return list.parts(separatedBy: ";", keepsEmpty: false).map { option in
            String(decoding: option.utf8.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
    }
}
