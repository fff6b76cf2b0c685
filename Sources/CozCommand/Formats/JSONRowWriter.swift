// Writes the rows of a batch as JSON values separated by commas, with or without keys. Each column
// is inspected once per batch. The nulls come from a template that all rows share, so a row costs
// only its values. A JSONRowWriter is reused for many batches, to keep its buffers.

internal import CozDB

struct JSONRowWriter {
    /// Size of the output at which `append` stops.
    static let pieceSizeBytes = 1 << 15

    /// A cell that is not null.
    private struct Cell {
        var column: Int32
        /// Decimal places; if negative, `bits` is the index of a text.
        var places: Int32
        var bits: Int64
    }

    private let opening: [UInt8]
    private let closing: [UInt8]
    private let keys: [[UInt8]]?
    private let goCompatible: Bool
    /// A row of nulls with its opening and closing, and the range of the null of each column in it.
    private var template: [UInt8] = []
    private var nulls: [Range<Int>] = []
    /// The cells of all rows, and the end of each row in `cells`.
    private var cells: [Cell] = []
    private var rowEnds: [Int] = []
    /// The printed text of non-numeric cells, and the end of each text.
    private var texts: [UInt8] = []
    private var textEnds: [Int] = []
    /// The index of the next cell of each row, while cells are added.
    private var nextCells: [UInt32] = []

    /// - Parameters:
    ///   - opening: The text before the cells of each row.
    ///   - closing: The text after them.
    ///   - keys: Quoted keys, each with its colon; nil for values without keys.
    init(
        opening: [UInt8] = [], closing: [UInt8] = [], keys: [[UInt8]]? = nil,
        goCompatible: Bool = false
    ) {
        self.opening = opening
        self.closing = closing
        self.keys = keys
        self.goCompatible = goCompatible
    }

    private mutating func makeTemplate(columnCount: Int) {
        guard nulls.count != columnCount || template.isEmpty else { return }
        template = opening
        nulls = []
        for index in 0..<columnCount {
            if index > 0 { template.append(UInt8(ascii: ",")) }
            if let keys { template.append(contentsOf: keys[index]) }
            nulls.append(template.count..<(template.count + JSONRowWriter.null.count))
            template.append(contentsOf: JSONRowWriter.null)
        }
        template.append(contentsOf: closing)
    }

    /// Replaces the rows by those of a batch.
    mutating func load(
        _ batch: ResultBatch, isTime: [Bool], time: TimeText, offset: ((Int64) -> Int)?
    ) {
        makeTemplate(columnCount: batch.columns.count)
        texts.removeAll(keepingCapacity: true)
        textEnds.removeAll(keepingCapacity: true)
        var places: [UInt32] = []
        swap(&places, &nextCells)
        defer { swap(&places, &nextCells) }
        countCells(batch, &places)
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
            case .string?: addTexts(vector, index, goCompatible: goCompatible, &places)
            case nil: break
            }
        }
    }

    /// Appends rows until `pieceSizeBytes` is reached, and returns the first row that is left.
    ///
    /// - Parameter skipped: How many bytes of the opening to skip before the first row.
    func append(from first: Int, skipping skipped: Int, to bytes: inout [UInt8]) -> Int {
        var size = DigitWriter.slackBytes
        var end = first
        while end < rowEnds.count, size < JSONRowWriter.pieceSizeBytes {
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

    /// An upper bound of the size of a row's cells, in bytes.
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

    /// Makes room for the cells of a batch.
    ///
    /// - Parameter places: Receives the index of the first cell of each row.
    private mutating func countCells(_ batch: ResultBatch, _ places: inout [UInt32]) {
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(0, count: batch.count))
        for vector in batch.columns where vector.type != nil {
            vector.withValues { _, isPresent in
                var counts = places.mutableSpan
                precondition(counts.count == isPresent.count, "a value or null for each row")
                for row in isPresent.indices { counts[row] &+= isPresent[row] ? 1 : 0 }
            }
        }
        rowEnds.removeAll(keepingCapacity: true)
        rowEnds.reserveCapacity(batch.count)
        var count = 0
        for row in places.indices {
            let own = Int(places[row])
            places[row] = UInt32(truncatingIfNeeded: count)
            count += own
            rowEnds.append(count)
        }
        // Old cells need no clearing: they are overwritten.
        let missing = count - cells.count
        if missing > 0 {
            let none = Cell(column: 0, places: 0, bits: 0)
            cells.append(contentsOf: repeatElement(none, count: missing))
        }
    }

    /// Adds the non-null values of a column to their rows.
    @inline(__always)
    private mutating func add(
        _ vector: ResultVector, _ column: Int, _ places: inout [UInt32],
        _ cell: (UInt64, inout [UInt8], inout [Int]) -> (places: Int, bits: Int64)
    ) {
        vector.withValues { bits, isPresent in
            for row in isPresent.indices where isPresent[row] {
                let made = cell(bits[row], &texts, &textEnds)
                cells[Int(places[row])] = Cell(
                    column: Int32(truncatingIfNeeded: column),
                    places: Int32(truncatingIfNeeded: made.places), bits: made.bits)
                places[row] &+= 1
            }
        }
    }

    private mutating func addIntegers(
        _ vector: ResultVector, _ column: Int, _ places: inout [UInt32]
    ) {
        add(vector, column, &places) { bits, _, _ in (0, Int64(bitPattern: bits)) }
    }

    private mutating func addFloats(
        _ vector: ResultVector, _ column: Int, _ places: inout [UInt32]
    ) {
        let goCompatible = goCompatible
        add(vector, column, &places) { bits, texts, ends in
            let number = Double(bitPattern: bits)
            if let decimal = DecimalText.decimal(number) ?? DecimalText.shortest(number) {
                return (decimal.places, decimal.digits)
            }
            // JSON cannot represent NaN and infinities.
            if !number.isFinite {
                texts.append(contentsOf: JSONRowWriter.null)
            } else if goCompatible {
                NumberText.append(number, to: &texts)
            } else {
                NumberText.append(float: number, to: &texts)
            }
            ends.append(texts.count)
            return (-1, Int64(ends.count - 1))
        }
    }

    private mutating func addBooleans(
        _ vector: ResultVector, _ column: Int, _ places: inout [UInt32]
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
        _ places: inout [UInt32]
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
        _ vector: ResultVector, _ column: Int, goCompatible: Bool, _ places: inout [UInt32]
    ) {
        vector.forEachText { row, text in
            JSONRowWriter.append(text, goCompatible: goCompatible, to: &texts)
            textEnds.append(texts.count)
            cells[Int(places[row])] = Cell(
                column: Int32(truncatingIfNeeded: column), places: -1,
                bits: Int64(textEnds.count - 1))
            places[row] &+= 1
        }
    }

    private static func append(_ text: Span<UInt8>, goCompatible: Bool, to bytes: inout [UInt8]) {
        guard JSONText.isPlain(text) else {
            return JSONText.append(String(copying: text), goCompatible: goCompatible, to: &bytes)
        }
        bytes.append(addingCapacity: text.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in text.indices { output.append(text[index]) }
            output.append(UInt8(ascii: "\""))
        }
    }

    private static let null = Array("null".utf8)
}

extension String {
    fileprivate init(copying text: Span<UInt8>) {
        var bytes: [UInt8] = []
        for index in text.indices { bytes.append(text[index]) }
        self.init(decoding: bytes, as: UTF8.self)
    }
}
