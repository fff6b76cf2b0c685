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

    /// Columns that a cell always has room for; what is wider is cut where a terminal has no
    /// room, and everywhere unless a table says otherwise.
    static let cellWidthMax = 48

    private let columns: [Column]
    private let cellWidthMax: Int
    private var rows: [[String]] = []
    private var widths: [Int]
    private var hasHeader = false
    /// Columns from the left that are printed.
    private var shownCount: Int
    /// What is wider is cut when it is printed.
    private var shownCellWidth: Int
    private var hasCut = false

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
        shownCellWidth = cellWidthMax
    }

    var rowCount: Int { rows.count }

    /// Columns of the terminal that the rows so far need.
    var width: Int { width(cellsTo: shownCellWidth) }

    private func width(cellsTo limit: Int) -> Int {
        widths.prefix(shownCount).reduce(0) { $0 + min($1, limit) } + 2 * max(0, shownCount - 1)
    }

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
            text += line(widths.map { String(repeating: "-", count: min($0, shownCellWidth)) })
        }
        hasCut = hasCut || widths.prefix(shownCount).contains { $0 > shownCellWidth }
        for row in rows { text += line(row) }
        rows.removeAll(keepingCapacity: true)
        return text
    }

    /// The same for a whole table that must not be wider than a terminal: long cells are cut and
    /// columns at the right left out where it would be, which is said below.
    ///
    /// - Parameter widthMax: columns of the terminal; nil where there is none.
    mutating func takeText(widthMax: Int?, elsewhere: String) -> String {
        if let widthMax { fit(widthMax) }
        return takeText() + note(elsewhere: elsewhere)
    }

    /// Makes the rows so far fit a terminal, as far as that is possible: cells get what room
    /// there is, at least `cellWidthMax`.
    ///
    /// - Parameter leavesOut: whether columns at the right may be left out.
    mutating func fit(_ widthMax: Int, leavesOut: Bool = true) {
        guard width > widthMax else { return }
        let least = TextTable.cellWidthMax
        while leavesOut, shownCount > 2, width(cellsTo: least) > widthMax { shownCount -= 1 }
        let widest = widths.prefix(shownCount).max() ?? 0
        var limit = least
        while limit < widest, width(cellsTo: limit + 1) <= widthMax { limit += 1 }
        shownCellWidth = min(shownCellWidth, limit)
    }

    /// What the text so far lacks for want of room; empty where it lacks nothing.
    ///
    /// - Parameter elsewhere: what shows it.
    func note(elsewhere: String) -> String {
        var text = ""
        if shownCount < columns.count {
            let names = columns[shownCount...].map(\.title).joined(separator: ", ")
            text += "(no room for \(names); \(elsewhere) shows them)\n"
        }
        if hasCut { text += "(long cells end with …; \(elsewhere) shows them whole)\n" }
        return text
    }

    private func line(_ cells: [String]) -> String {
        var text = ""
        for (index, cell) in cells.prefix(shownCount).enumerated() {
            if index > 0 { text += "  " }
            let isRight = columns[index].isRightAligned
            let cell = PlainText.cut(cell, width: shownCellWidth)
            let width = min(widths[index], shownCellWidth)
            let isLast = index == shownCount - 1
            text +=
                isLast && !isRight
                ? cell : PlainText.padded(cell, to: width, right: isRight)
        }
        while text.last == " " { text.removeLast() }
        return text + "\n"
    }
}
