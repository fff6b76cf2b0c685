// Rows of a batch as JSON values separated by commas, with or without keys. Columns are looked at
// once per batch, so that a row costs what it has: the many cells that are null are part of a text
// that all rows share.

internal import CozDB

struct JSONRow {
    /// Bytes collected before they are handed on.
    static let pieceSizeBytes = 1 << 15

    /// A cell that is not null.
    private struct Cell {
        var column: Int32
        /// Behind the point; less than 0: the text with the number `bits`.
        var places: Int32
        var bits: Int64
    }

    /// A row of nothing but nulls, with what stands around it, and where the null of each column
    /// stands in it.
    private var template: [UInt8] = []
    private var nulls: [Range<Int>] = []
    /// The cells of all rows, and where those of each row end.
    private var cells: [Cell] = []
    private var rowEnds: [Int] = []
    /// Cells that are text, as they are printed, and where each ends.
    private var texts: [UInt8] = []
    private var textEnds: [Int] = []

    /// - Parameters:
    ///   - opening: what stands before the cells of each row.
    ///   - closing: what stands behind them.
    ///   - keys: quoted, with the colon; nil where cells have none.
    init(
        _ batch: ResultBatch, opening: [UInt8], closing: [UInt8], isTime: [Bool],
        keys: [[UInt8]]? = nil, time: TimeText, offset: ((Int64) -> Int)?, likeGo: Bool = false
    ) {
        template = opening
        for index in batch.columns.indices {
            if index > 0 { template.append(UInt8(ascii: ",")) }
            if let keys { template.append(contentsOf: keys[index]) }
            nulls.append(template.count..<(template.count + JSONRow.null.count))
            template.append(contentsOf: JSONRow.null)
        }
        template.append(contentsOf: closing)
        var places = countCells(batch)
        for (index, vector) in batch.columns.enumerated() {
            switch vector.type {
            case .integer? where isTime[index]:
                if case .epoch(1) = time.style {
                    addIntegers(vector, index, &places)
                } else {
                    addTimes(vector, index, time, offset, &places)
                }
            case .integer?: addIntegers(vector, index, &places)
            case .float?: addFloats(vector, index, &places)
            case .boolean?: addBooleans(vector, index, &places)
            case .string?: addTexts(vector, index, likeGo: likeGo, &places)
            case nil: break
            }
        }
    }

    /// Appends rows until a piece is full; the first row that is left.
    ///
    /// - Parameter skipped: bytes of the opening that the first of them goes without.
    func append(from first: Int, skipping skipped: Int, to bytes: inout [UInt8]) -> Int {
        var size = DigitWriter.slackBytes
        var end = first
        while end < rowEnds.count, size < JSONRow.pieceSizeBytes {
            size += template.count + cellsSizeMax(end)
            end += 1
        }
        bytes.append(addingCapacity: size) { output in
            // Sound: there is room for the template, for every cell and for the slack.
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                let start = UnsafeMutableRawPointer(buffer.baseAddress!)
                var writer = unsafe DigitWriter(start)
                write(first..<end, skipping: skipped, with: &writer)
                count = unsafe writer.next - start
            }
        }
        return end
    }

    /// What the cells of a row take at most.
    private func cellsSizeMax(_ row: Int) -> Int {
        var size = 0
        for index in (row == 0 ? 0 : rowEnds[row - 1])..<rowEnds[row] {
            let cell = cells[index]
            size +=
                cell.places < 0
                ? textRange(Int(cell.bits)).count : DigitWriter.numberSizeBytesMax
        }
        return size
    }

    private func write(
        _ rows: Range<Int>, skipping skipped: Int, with writer: inout DigitWriter
    ) {
        let (cells, rowEnds, nulls) = (cells.span, rowEnds.span, nulls.span)
        let textEnds = textEnds.span
        unsafe template.withUnsafeBufferPointer { template in
            unsafe texts.withUnsafeBufferPointer { texts in
                var next = rows.lowerBound == 0 ? 0 : rowEnds[rows.lowerBound - 1]
                var copied = skipped
                for row in rows {
                    while next < rowEnds[row] {
                        let cell = cells[next]
                        next += 1
                        let null = nulls[Int(cell.column)]
                        unsafe writer.put(template.baseAddress!, copied..<null.lowerBound)
                        copied = null.upperBound
                        if cell.places >= 0 {
                            writer.put(cell.bits, places: Int(cell.places))
                            continue
                        }
                        let number = Int(cell.bits)
                        let start = number == 0 ? 0 : textEnds[number - 1]
                        if let texts = texts.baseAddress {
                            unsafe writer.put(texts, start..<textEnds[number])
                        }
                    }
                    unsafe writer.put(template.baseAddress!, copied..<template.count)
                    copied = 0
                }
            }
        }
    }

    private func textRange(_ number: Int) -> Range<Int> {
        (number == 0 ? 0 : textEnds[number - 1])..<textEnds[number]
    }

    // MARK: Cells

    /// Makes room for the cells; the place of the first cell of each row.
    private mutating func countCells(_ batch: ResultBatch) -> [Int] {
        var counts = [Int](repeating: 0, count: batch.count)
        for vector in batch.columns where vector.type != nil {
            vector.withValues { _, isPresent in
                for row in isPresent.indices { counts[row] &+= isPresent[row] ? 1 : 0 }
            }
        }
        var places: [Int] = []
        places.reserveCapacity(batch.count)
        rowEnds.reserveCapacity(batch.count)
        var count = 0
        for row in counts.indices {
            places.append(count)
            count += counts[row]
            rowEnds.append(count)
        }
        cells = Array(repeating: Cell(column: 0, places: 0, bits: 0), count: count)
        return places
    }

    /// Puts the values of a column that are there into their rows.
    @inline(__always)
    private mutating func add(
        _ vector: ResultVector, _ column: Int, _ places: inout [Int],
        _ cell: (UInt64, inout [UInt8], inout [Int]) -> (places: Int, bits: Int64)
    ) {
        vector.withValues { bits, isPresent in
            for row in isPresent.indices where isPresent[row] {
                let made = cell(bits[row], &texts, &textEnds)
                cells[places[row]] = Cell(
                    column: Int32(truncatingIfNeeded: column),
                    places: Int32(truncatingIfNeeded: made.places), bits: made.bits)
                places[row] += 1
            }
        }
    }

    private mutating func addIntegers(
        _ vector: ResultVector, _ column: Int, _ places: inout [Int]
    ) {
        add(vector, column, &places) { bits, _, _ in (0, Int64(bitPattern: bits)) }
    }

    private mutating func addFloats(
        _ vector: ResultVector, _ column: Int, _ places: inout [Int]
    ) {
        add(vector, column, &places) { bits, texts, ends in
            let number = Double(bitPattern: bits)
            if let decimal = DecimalText.decimal(number) { return (decimal.places, decimal.digits) }
            // JSON has no word for NaN and the infinities.
            if number.isFinite {
                NumberText.append(number, to: &texts)
            } else {
                texts.append(contentsOf: JSONRow.null)
            }
            ends.append(texts.count)
            return (-1, Int64(ends.count - 1))
        }
    }

    private mutating func addBooleans(
        _ vector: ResultVector, _ column: Int, _ places: inout [Int]
    ) {
        texts.append(contentsOf: "false".utf8)
        textEnds.append(texts.count)
        texts.append(contentsOf: "true".utf8)
        textEnds.append(texts.count)
        let no = Int64(textEnds.count - 2)
        add(vector, column, &places) { bits, _, _ in (-1, no + (bits != 0 ? 1 : 0)) }
    }

    private mutating func addTimes(
        _ vector: ResultVector, _ column: Int, _ time: TimeText, _ offset: ((Int64) -> Int)?,
        _ places: inout [Int]
    ) {
        add(vector, column, &places) { bits, texts, ends in
            let nanoseconds = Int64(bitPattern: bits)
            if !time.isNumber { texts.append(UInt8(ascii: "\"")) }
            time.append(nanoseconds, offset: offset?(nanoseconds) ?? 0, to: &texts)
            if !time.isNumber { texts.append(UInt8(ascii: "\"")) }
            ends.append(texts.count)
            return (-1, Int64(ends.count - 1))
        }
    }

    private mutating func addTexts(
        _ vector: ResultVector, _ column: Int, likeGo: Bool, _ places: inout [Int]
    ) {
        vector.forEachText { row, text in
            JSONRow.append(text, likeGo: likeGo, to: &texts)
            textEnds.append(texts.count)
            cells[places[row]] = Cell(
                column: Int32(truncatingIfNeeded: column), places: -1,
                bits: Int64(textEnds.count - 1))
            places[row] += 1
        }
    }

    private static func append(_ text: Span<UInt8>, likeGo: Bool, to bytes: inout [UInt8]) {
        var isPlain = true
        for index in text.indices { isPlain = isPlain && JSONRow.isPlain(text[index]) }
        guard isPlain else {
            return JSONText.append(String(copying: text), likeGo: likeGo, to: &bytes)
        }
        bytes.append(addingCapacity: text.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in text.indices { output.append(text[index]) }
            output.append(UInt8(ascii: "\""))
        }
    }

    private static let null = Array("null".utf8)

    /// Whether a byte is printed as it is, whatever stands around it.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "&"):
            false
        default: byte >= 0x20 && byte < 0x80
        }
    }
}

extension String {
    fileprivate init(copying text: Span<UInt8>) {
        var bytes: [UInt8] = []
        for index in text.indices { bytes.append(text[index]) }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
