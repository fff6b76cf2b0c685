// Text tables with aligned columns, for people.

struct TextTable {
    struct Column {
        var title: String
        var isRightAligned = false

        init(_ title: String, right: Bool = false) {
            self.title = title
            isRightAligned = right
        }
    }

    /// The width that a cell always gets. Longer cells are cut, unless the table allows a larger
    /// width and the terminal has room.
    static let cellWidthMax = 48

    private let columns: [Column]
    private let cellWidthMax: Int
    private var rows: [[String]] = []
    private var widths: [Int]
    private var hasHeader = false
    /// How many columns are printed, from the left.
    private var shownCount: Int
    /// Wider cells are cut when they are printed.
    private var shownCellWidth: Int
    private var hasCut = false

    /// - Parameter cellWidthMax: Wider cells are cut.
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

    /// The terminal columns that the rows so far need.
    var width: Int { width(cellsTo: shownCellWidth) }

    private func width(cellsTo limit: Int) -> Int {
        widths.prefix(shownCount).reduce(0) { $0 + min($1, limit) } + 2 * max(0, shownCount - 1)
    }

    private static func shown(_ text: String, _ width: Int) -> String {
        PlainText.cut(PlainText.escaped(text), width: width)
    }

    /// - Parameter cells: One cell per column.
    mutating func append(_ cells: [String]) {
        let shown = cells.map { TextTable.shown($0, cellWidthMax) }
        for (index, cell) in shown.enumerated() {
            widths[index] = max(widths[index], PlainText.width(cell))
        }
        rows.append(shown)
    }

    /// Takes the rows so far as text; the first call adds the header. If later rows are wider, the
    /// columns grow from there on.
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

    /// Takes the whole table as text that fits a terminal. If necessary, long cells are cut and
    /// columns on the right dropped, and a note says so.
    ///
    /// - Parameter widthMax: Width of the terminal; nil if there is none.
    mutating func takeText(widthMax: Int?, elsewhere: String) -> String {
        if let widthMax { fit(widthMax) }
        return takeText() + note(elsewhere: elsewhere)
    }

    /// Fits the rows so far to a terminal, if possible. Cells get the room there is, at least
    /// `TextTable.cellWidthMax`.
    ///
    /// - Parameter dropsColumns: Whether columns on the right may be dropped.
    mutating func fit(_ widthMax: Int, dropsColumns: Bool = true) {
        guard width > widthMax else { return }
        let least = TextTable.cellWidthMax
        while dropsColumns, shownCount > 2, width(cellsTo: least) > widthMax { shownCount -= 1 }
        let widest = widths.prefix(shownCount).max() ?? 0
        var limit = least
        while limit < widest, width(cellsTo: limit + 1) <= widthMax { limit += 1 }
        shownCellWidth = min(shownCellWidth, limit)
    }

    /// The note about cut cells and dropped columns; empty if nothing is missing.
    ///
    /// - Parameter elsewhere: The command or option that shows everything.
    func note(elsewhere: String) -> String {
        var text = ""
        if shownCount < columns.count {
            let names = columns[shownCount...].map(\.title).joined(separator: ", ")
            text += "(not enough room for \(names); use \(elsewhere) to see them)\n"
        }
        if hasCut { text += "(long cells are cut at …; use \(elsewhere) to see them in full)\n" }
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
