// Reads the files of a Beiwe export as points. The header of each file decides how to read its
// rows.

internal import CozDB
internal import CozImport

/// Reads one file after the other. Splits cells at commas only: Beiwe never quotes, so a quote in
/// an answer is a plain character.
struct BeiweReader: PointReader {
    /// The maximum size of a line, equal to that of a string.
    private static let lineSizeBytesMax = 1 << 20

    private enum Content {
        /// The header is not yet read.
        case unread
        case timed(TimedRows)
        case answers(BeiweAnswers)
        /// Rows that cannot be read, and the reason.
        case refused(String)
    }

    private let options: BeiweOptions
    private let imports: ImportOptions
    private let participantTags: ParticipantTags
    private let tokenizer = BeiweReader.makeTokenizer()
    private var types: BeiweColumnTypes
    /// One per patient and stream.
    private var ordinals: [BeiweSource.Series: RowOrdinals] = [:]
    private var lastSeries: BeiweSource.Series?
    private var answerOrdinals = AnswerOrdinals()
    private var declared = DeclaredQuestions()
    /// Results of `BeiweHeader.problem`. A stream has only one or two different headers.
    private var problems: [ProblemKey: String?] = [:]

    private struct ProblemKey: Hashable {
        var header: BeiweHeader
        var stream: String
    }

    // State of the current file:
    private var content = Content.unread
    private var source: BeiweSource?
    private var block: CSVBlock?
    private var next = 0

    init(_ options: BeiweOptions, _ imports: ImportOptions) {
        self.options = options
        self.imports = imports
        participantTags = imports.participantTags
        types = BeiweColumnTypes(imports)
    }

    private static func makeTokenizer() -> CSVTokenizer {
        CSVTokenizer(
            dialect: CSVDialect(hasQuotes: false), rowSizeBytesMax: lineSizeBytesMax)
    }

    mutating func begin(_ file: InputFile) {
        tokenizer.begin()
        content = .unread
        source = nil
        block = nil
        next = 0
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        if case .unread = content {
            guard try nextBlock(of: file), let block else { return true }
            try beginRows(file, block)
        }
        switch content {
        case .unread: return true
        case .timed(let rows):
            // Keep `rows` uniquely referenced, so that writing to it does not copy.
            content = .unread
            var rows = rows
            defer { content = .timed(rows) }
            return try readTimed(&rows, file, &batch, limits)
        case .answers(var answers):
            content = .unread
            try readAnswers(&answers, file, &batch)
            return true
        case .refused(let reason):
            return try refuseAll(reason, file, &batch, limits)
        }
    }

    private mutating func nextBlock(of file: InputFile) throws(DatabaseError) -> Bool {
        // Release the block first, so that the tokenizer can reuse its memory.
        block = nil
        next = 0
        block = try tokenizer.nextBlock(of: file)
        return block != nil
    }

    private mutating func beginRows(
        _ file: InputFile, _ block: CSVBlock
    ) throws(DatabaseError) {
        let first = block.rows[0]
        let header = BeiweHeader(
            block.cells[first.cells].map {
                String(decoding: block.bytes.copy($0.range), as: UTF8.self)
            })
        next = 1
        let source = try BeiweSource(file, header, options, imports)
        self.source = source
        if let problem = problem(with: header, source.stream) {
            // Refuse the header line too.
            next = 0
            content = .refused(problem)
        } else if source.stream == BeiweStream.surveyAnswers.name {
            content = .answers(BeiweAnswers(header, source))
        } else {
            content = .timed(try timedRows(header, source, file))
        }
    }

    private mutating func problem(with header: BeiweHeader, _ stream: String) -> String? {
        let key = ProblemKey(header: header, stream: stream)
        if let known = problems[key] { return known }
        let problem = header.problem(stream)
        problems[key] = .some(problem)
        return problem
    }

    // MARK: Rows with a time

    private mutating func timedRows(
        _ header: BeiweHeader, _ source: BeiweSource, _ file: InputFile
    ) throws(DatabaseError) -> TimedRows {
        // A folder has the files of a series one after the other.
        if let lastSeries, lastSeries != source.series { ordinals[lastSeries]?.dropKept() }
        lastSeries = source.series
        ordinals[source.series, default: RowOrdinals(options.ordinalLimits)].begin(
            file, survey: source.survey)
        let kinds = try types.kinds(of: header, in: source.stream, file)
        let renamedKinds = types.renamedKinds(of: header, in: source.stream, kinds)
        let columns = header.names.indices.map { index in
            var column = TimedColumn(header.names[index], kinds[index])
            column.fieldType = types.askedType(of: header.names[index], in: source.stream)
            column.renamedKind = renamedKinds[index]
            return column
        }
        var constant: (name: String, value: String)?
        if let survey = source.survey, !header.names.contains(BeiweHeader.survey) {
            constant = (BeiweHeader.survey, survey)
        }
        return TimedRows(columns, constant: constant)
    }

    private mutating func readTimed(
        _ rows: inout TimedRows, _ file: InputFile, _ batch: inout WriteBatch,
        _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        guard let source, var ordinals = ordinals.removeValue(forKey: source.series) else {
            return true
        }
        defer { self.ordinals[source.series] = ordinals }
        let experiment = batch.experiment(source.stream.utf8.span)
        if let stream = BeiweStream.named(source.stream) {
            batch.suggest(stream.preset, experiment: experiment)
        }
        let tags = try tags(of: source, in: source.stream)
        rows.bind(
            to: &batch, experiment: experiment,
            tagSet: batch.tagSet(experiment: experiment, tags: tags))
        let sizeMax = file.decodedBytes + limits.sizeBytes
        while let block {
            switch rows.add(block, from: &next, into: &batch, points: limits.points) {
            case .full: return false
            case .moment(let milliseconds):
                try place(milliseconds, block, &rows, &ordinals, file, &batch)
            case .end:
                ordinals.endBlock(&rows, block)
                if file.decodedBytes >= sizeMax && !batch.isEmpty {
                    self.block = nil
                    _ = try nextBlock(of: file)
                    rows.beginBlock()
                    if self.block != nil { return false }
                    break
                }
                _ = try nextBlock(of: file)
                rows.beginBlock()
            }
        }
        ordinals.end()
        return true
    }

    /// Adds the next row with its ordinal among the rows of its millisecond.
    private mutating func place(
        _ milliseconds: Int64, _ block: CSVBlock, _ rows: inout TimedRows,
        _ ordinals: inout RowOrdinals, _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) {
        let row = block.rows[next]
        let ordinal = try ordinals.ordinal(of: row, in: block, milliseconds, &rows) {
            (source, line, body) throws(DatabaseError) in
            return try replay(source, beforeLine: line, body)
        }
        if ordinal < RowOrdinals.countMax {
            rows.addRow(next, of: block, milliseconds, ordinal: ordinal, into: &batch)
        } else {
            block.refuse(
                row, into: &batch,
                reason: "found more than \(RowOrdinals.countMax) different rows in one "
                    + "millisecond, expected at most \(RowOrdinals.countMax)")
        }
        next += 1
    }

    /// Reads a file again and reports the time and identity of each row. Returns the number of
    /// lines.
    private func replay(
        _ source: RowOrdinals.Source, beforeLine line: Int?, _ body: (Int64, UInt64) -> Void
    ) throws(DatabaseError) -> Int {
        let file = try InputFile(path: source.path)
        let tokenizer = BeiweReader.makeTokenizer()
        var rows: TimedRows?
        var lineCount = 0
        while let block = try tokenizer.nextBlock(of: file) {
            for row in block.rows {
                if let line, row.line >= line { return lineCount }
                lineCount = row.line
                guard rows != nil else {
                    rows = replayedRows(row, block, source.survey)
                    if rows == nil { return lineCount }
                    continue
                }
                guard let time = rows?.time(of: row, in: block),
                    let identity = rows?.identity(of: row, in: block, time)
                else { continue }
                body(time, identity)
            }
        }
        return lineCount
    }

    /// Returns the columns of a file that is read again. Identity does not depend on their types.
    private func replayedRows(
        _ row: CSVRow, _ block: CSVBlock, _ survey: String?
    ) -> TimedRows? {
        let header = BeiweHeader(
            block.cells[row.cells].map {
                String(decoding: block.bytes.copy($0.range), as: UTF8.self)
            })
        guard header.hasTime else { return nil }
        let columns = header.names.map { name in
            switch name {
            case BeiweHeader.time: TimedColumn(name, .milliseconds)
            case BeiweHeader.moment: TimedColumn(name, .moment)
            default: TimedColumn(name, .text)
            }
        }
        let hasColumn = header.names.contains(BeiweHeader.survey)
        return TimedRows(
            columns,
            constant: hasColumn ? nil : survey.map { (BeiweHeader.survey, $0) })
    }

    private func tags(
        of source: BeiweSource, in experiment: String
    ) throws(DatabaseError) -> [(name: String, value: String)] {
        let tag = participantTags.tag(of: Array(experiment.utf8))
        guard let study = imports.experiment else { return [(tag, source.patient)] }
        if tag == "id_experiment" {
            throw DatabaseError(
                .usage,
                "found the participant tag \"id_experiment\", which names the study; choose "
                    + "another tag, or give no study",
                remedy: .change([.participantTag, .experiment]))
        }
        return [(tag, source.patient), ("id_experiment", study)]
    }

    // MARK: Answers

    /// Reads the whole file, because its rows form one point.
    private mutating func readAnswers(
        _ answers: inout BeiweAnswers, _ file: InputFile, _ batch: inout WriteBatch
    ) throws(DatabaseError) {
        while let block {
            for row in block.rows[next...] { answers.add(row, of: block, into: &batch) }
            _ = try nextBlock(of: file)
        }
        guard let source else { return }
        answers.finish(
            into: &batch, tags: try tags(of: source, in: BeiweStream.surveyAnswers.name),
            questionTags: try tags(of: source, in: BeiweStream.surveyQuestions.name),
            ordinals: &answerOrdinals, declared: &declared)
    }

    // MARK: Unreadable rows

    private mutating func refuseAll(
        _ reason: String, _ file: InputFile, _ batch: inout WriteBatch, _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        while let block {
            while next < block.rows.count {
                if batch.rowCount + batch.refusals.count >= limits.points { return false }
                let row = block.rows[next]
                if !block.isBlank(row) { block.refuse(row, into: &batch, reason: reason) }
                next += 1
            }
            _ = try nextBlock(of: file)
        }
        return true
    }
}
