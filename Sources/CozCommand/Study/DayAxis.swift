// Shows the days of a study along a line of the terminal.

internal import CozDB
internal import CozStudy

/// A time axis of characters. Each one is a local day, or several days if there is not enough room.
struct DayAxis {
    let days: ClosedRange<LocalDate>
    let daysPerColumn: Int

    /// - Parameter width: Maximum number of columns; at least one is made.
    init(_ days: ClosedRange<LocalDate>, width: Int) {
        self.days = days
        let count = days.count
        daysPerColumn = (count + max(1, width) - 1) / max(1, width)
    }

    var columnCount: Int { column(of: days.upperBound) + 1 }

    /// The width of a strip or its ruler.
    var width: Int { max(columnCount, DayAxis.labelWidth) }

    func column(of day: LocalDate) -> Int {
        days.lowerBound.distance(to: day) / daysPerColumn
    }

    private static let labelWidth = 5

    /// Month and day above every seventh column.
    var ruler: String {
        var text = ""
        for column in stride(from: 0, to: columnCount, by: 7) {
            // Omit a label that would extend beyond the last column.
            if column > 0, column + DayAxis.labelWidth > columnCount { break }
            let day = days.lowerBound.advanced(by: column * daysPerColumn)
            text = PlainText.padded(text, to: column) + day.description.suffix(5)
        }
        return text
    }

    /// The meaning of a column if it is not one day.
    var note: String? {
        daysPerColumn > 1 ? "each column is \(daysPerColumn) days" : nil
    }

    /// Draws one line with the mean of the days of each column; blank before `first`.
    ///
    /// - Parameters:
    ///   - counts: Numbers of consecutive days.
    ///   - first: The day of the first number.
    func strip(_ counts: [Int], from first: LocalDate, _ scale: ShadeScale) -> String {
        line(counts, from: first) { values in
            scale.character(values.reduce(0) { $0 + Double($1) } / Double(values.count))
        }
    }

    /// Draws the last value of each column as a bar, as a share of `whole`. Only values of at most
    /// 0 get the lowest bar, and only complete values get the highest.
    func bars(_ values: [Int], from first: LocalDate, of whole: Int, _ glyphs: Glyphs) -> String {
        line(values, from: first) { values in
            let value = values.last ?? 0
            let highest = glyphs.bars.count - 1
            if value <= 0 { return glyphs.bars[0] }
            if value >= whole { return glyphs.bars[highest] }
            let share = Double(value) / Double(whole)
            return glyphs.bars[1 + min(highest - 2, Int(share * Double(highest - 1)))]
        }
    }

    private func line(
        _ values: [Int], from first: LocalDate, _ character: (ArraySlice<Int>) -> Character
    ) -> String {
        var text = ""
        var start = 0
        while start < values.count {
            let column = column(of: first.advanced(by: start))
            let next = days.lowerBound.dayNumber + (column + 1) * daysPerColumn
            let end = min(values.count, next - first.dayNumber)
            if text.isEmpty { text = String(repeating: " ", count: column) }
            text.append(character(values[start..<end]))
            start = end
        }
        return text
    }
}

/// A table of strips, each with names before and numbers after it, below a ruler.
struct StripTable {
    /// Maximum width of a name; longer names are cut.
    private static let nameWidthMax = 30

    private let titles: [String]
    private let numberTitles: [String]
    private let nameWidths: [Int]
    private let numberWidths: [Int]
    private let names: [[String]]
    private let numbers: [[String]]

    /// - Parameters:
    ///   - names: The cells before each strip.
    ///   - numbers: The cells after it.
    init(
        _ titles: [String], _ numberTitles: [String], names: [[String]], numbers: [[String]]
    ) {
        self.titles = titles
        self.numberTitles = numberTitles
        let shown = names.map { row in
            row.map { PlainText.cut(PlainText.escaped($0), width: StripTable.nameWidthMax) }
        }
        self.names = shown
        self.numbers = numbers
        nameWidths = titles.indices.map { index in
            (shown.map { $0[index] } + [titles[index]]).map(PlainText.width).max() ?? 0
        }
        numberWidths = numberTitles.indices.map { index in
            (numbers.map { $0[index] } + [numberTitles[index]]).map(PlainText.width).max() ?? 0
        }
    }

    func room(_ width: Int) -> Int {
        max(10, width - (nameWidths + numberWidths).reduce(0) { $0 + $1 + 2 })
    }

    /// The lines of the table, with the ruler above.
    func text(_ axis: DayAxis, strips: [String]) -> String {
        var text = line(titles, axis.ruler, numberTitles, axis)
        for index in strips.indices {
            text += line(names[index], strips[index], numbers[index], axis)
        }
        return text
    }

    private func line(
        _ names: [String], _ strip: String, _ numbers: [String], _ axis: DayAxis
    ) -> String {
        var text = ""
        for (name, width) in zip(names, nameWidths) {
            text += PlainText.padded(name, to: width) + "  "
        }
        text += PlainText.padded(strip, to: axis.width)
        for (number, width) in zip(numbers, numberWidths) {
            text += "  " + PlainText.padded(number, to: width, right: true)
        }
        while text.last == " " { text.removeLast() }
        return text + "\n"
    }
}
