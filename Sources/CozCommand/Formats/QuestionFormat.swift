// `--questions`: adds the questions of watch surveys to their answers.

internal import CozDB

/// Adds registered questions to the output of another format. In CSV they become part of the
/// titles. Below a table they are listed with their options and the number of answers that are not
/// options.
final class QuestionFormat: ResultWriter {
    enum Place {
        case titles, below
    }

    private struct Asked {
        var declaration: SchemaPreset.Field
        /// Answers among the rows shown, and those that are not options.
        var answers = 0
        var outside = 0
        var options: Set<[UInt8]>

        init(_ declaration: SchemaPreset.Field) {
            self.declaration = declaration
            options = Set(declaration.options.map { Array($0.utf8) })
        }
    }

    /// The schemas of all experiments, which hold the questions.
    var schemas: [ExperimentSchema] = []

    private let inner: any ResultWriter
    private let output: OutputWriter
    private let place: Place
    /// The questions of the columns of the statement so far.
    private var asked: [Asked] = []
    /// Their indexes in `asked`.
    private var places: [SchemaPreset.Field: Int] = [:]
    /// The index in `asked` for each column of the series.
    private var columns: [Int?] = []

    init(_ inner: any ResultWriter, _ output: OutputWriter, _ place: Place) {
        self.inner = inner
        self.output = output
        self.place = place
    }

    func beginStatement(_ index: Int) {
        asked = []
        places = [:]
        inner.beginStatement(index)
    }

    func beginSeries(_ header: ResultHeader) {
        let schema = schemas.first { $0.name.utf8.elementsEqual(header.name.utf8) }
        var header = header
        columns = header.columns.map { column in
            guard case .field = column.kind else { return nil }
            return index(column.title, in: schema)
        }
        let tags = header.tags.map { index($0.name, in: schema) }
        if place == .titles {
            for (column, question) in columns.enumerated() {
                if let question { header.columns[column].title = title(asked[question]) }
            }
            for (tag, question) in tags.enumerated() {
                if let question { header.tags[tag].name = title(asked[question]) }
            }
        }
        inner.beginSeries(header)
    }

    private func title(_ asked: Asked) -> String {
        "\(asked.declaration.name): \(asked.declaration.question)"
    }

    /// Returns the index of the field's question in `asked`; nil if none is registered.
    private func index(_ name: String, in schema: ExperimentSchema?) -> Int? {
        guard let declaration = schema?.declaration(of: name), !declaration.question.isEmpty
        else { return nil }
        if let known = places[declaration] { return known }
        places[declaration] = asked.count
        asked.append(Asked(declaration))
        return asked.count - 1
    }

    func row(_ cells: [ResultCell]) {
        for (column, question) in columns.enumerated() {
            guard let question, case .value(.string(let answer)) = cells[column] else { continue }
            asked[question].answers += 1
            if !asked[question].options.contains(Array(answer.utf8)) {
                asked[question].outside += 1
            }
        }
        inner.row(cells)
    }

    func endSeries() { inner.endSeries() }

    func endStatement(error: String?) {
        inner.endStatement(error: error)
        guard place == .below else { return }
        for (index, question) in asked.enumerated() {
            output.append(index == 0 ? "\nquestions:\n" : "")
            output.append(PlainText.escaped(title(question)) + "\n")
            for option in question.declaration.options {
                output.append("    \(PlainText.escaped(option))\n")
            }
            if question.outside > 0 {
                let count = PlainText.grouped(question.outside)
                let all = PlainText.counted(question.answers, "answer")
                output.append(
                    "  \(count) of the \(all) shown \(question.outside == 1 ? "is" : "are") not "
                        + "among the options\n")
            }
        }
    }

    func end() { inner.end() }

    func parseError(_ message: String) { inner.parseError(message) }
}
