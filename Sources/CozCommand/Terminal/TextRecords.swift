// Prints rows with one line per field, for terminals that are narrower than the table.

struct TextRecords {
    private let titles: [String]
    private var count = 0
    /// Whether any row so far had an empty field.
    private(set) var hasEmpty = false

    init(_ titles: [String]) {
        self.titles = titles.map { PlainText.cut(PlainText.escaped($0), width: 60) }
    }

    /// Formats a row as a block of lines, without empty fields.
    ///
    /// - Parameter cells: One cell per title; nil for no value.
    mutating func text(_ cells: [String?]) -> String {
        count += 1
        let width = cells.indices.reduce(0) { width, index in
            cells[index] == nil ? width : max(width, PlainText.width(titles[index]))
        }
        var text = "-- \(count)\n"
        for (title, cell) in zip(titles, cells) {
            guard let cell else {
                hasEmpty = true
                continue
            }
            var line = PlainText.padded(title, to: width) + "  " + PlainText.escaped(cell)
            while line.last == " " { line.removeLast() }
            text += line + "\n"
        }
        return text
    }
}
