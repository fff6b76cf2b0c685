// Rows of text with aligned columns, for people.

struct TextTable {
    struct Column {
        var title: String
        var isRightAligned = false

        init(_ title: String, right: Bool = false) {
            self.title = title
            isRightAligned = right
        }
    }

    /// A wider cell is cut: tables are for reading, the other formats are exact.
    static let cellWidthMax = 48

    private let columns: [Column]
    private let cellWidthMax: Int
    private var rows: [[String]] = []
    private var widths: [Int]
    private var hasHeader = false
    /// Columns from the left that are printed.
    private var shownCount: Int

    /// - Parameter cellWidthMax: what is wider is cut.
    init(_ columns: [Column], cellWidthMax: Int = TextTable.cellWidthMax) {
        self.cellWidthMax = cellWidthMax
        self.columns = columns.map {
            var column = $0
            column.title = TextTable.shown($0.title, cellWidthMax)
            return column
        }
        widths = self.columns.map { PlainText.width($0.title) }
        shownCount = columns.count
    }

    var rowCount: Int { rows.count }

    /// Columns of the terminal that the rows so far need.
    var width: Int { widths.prefix(shownCount).reduce(0, +) + 2 * max(0, shownCount - 1) }

    private static func shown(_ text: String, _ width: Int) -> String {
        PlainText.cut(PlainText.escaped(text), width: width)
    }

    /// - Parameter cells: one per column.
    mutating func append(_ cells: [String]) {
        let shown = cells.map { TextTable.shown($0, cellWidthMax) }
        for (index, cell) in shown.enumerated() {
            widths[index] = max(widths[index], PlainText.width(cell))
        }
        rows.append(shown)
    }

    /// The rows so far as text, with the header before the first of them. Later rows may be
    /// wider; their columns grow from there.
    mutating func takeText() -> String {
        var text = ""
        if !hasHeader {
            hasHeader = true
            text += line(columns.map(\.title))
            text += line(widths.map { String(repeating: "-", count: $0) })
        }
        for row in rows { text += line(row) }
        rows.removeAll(keepingCapacity: true)
        return text
    }

    /// The same for a whole table that must not be wider than a terminal: columns at the right
    /// are left out where it would be, and named below.
    ///
    /// - Parameter widthMax: columns of the terminal; nil where there is none.
    mutating func takeText(widthMax: Int?, elsewhere: String) -> String {
        guard let widthMax, width > widthMax else { return takeText() }
        while shownCount > 2, width > widthMax { shownCount -= 1 }
        let names = columns[shownCount...].map(\.title).joined(separator: ", ")
        return takeText() + "(no room for \(names); \(elsewhere) shows them)\n"
    }

    private func line(_ cells: [String]) -> String {
        var text = ""
        for (index, cell) in cells.prefix(shownCount).enumerated() {
            if index > 0 { text += "  " }
            let isRight = columns[index].isRightAligned
            let isLast = index == shownCount - 1
            text +=
                isLast && !isRight
                ? cell : PlainText.padded(cell, to: widths[index], right: isRight)
        }
        while text.last == " " { text.removeLast() }
        return text + "\n"
    }
}
