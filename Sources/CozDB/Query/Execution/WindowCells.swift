// The values of many rows that arrive series by series and leave by time. Most rows of a wide
// experiment have few values, so only these take memory.

struct WindowCells {
    fileprivate struct Cell {
        var row: UInt32
        var reference: UInt32
        /// The bits of the value; a string has its code in `texts`.
        var bits: UInt64
    }

    /// The maximum number of cells of a piece, with and without values, and of its rows.
    private static let pieceCellCountMax = 1 << 18
    private static let pieceRowCountMax = 4096

    private let plan: SelectPlan
    fileprivate private(set) var times: [Int64] = []
    fileprivate private(set) var cells: [Cell] = []
    /// The type of each reference that has a value.
    private var types: [Int: FieldType] = [:]
    private var texts = VectorBuilder(type: .string)

    init(_ plan: SelectPlan) {
        self.plan = plan
    }

    var rowCount: Int { times.count }

    /// The memory of the rows, with what `sorted` allocates for them.
    var sizeBytes: Int {
        times.count * WindowCells.rowSizeBytes
            + cells.count * (MemoryLayout<Cell>.stride + 4) + texts.textSizeBytes
    }

    /// The memory of a row without values: time, order, rank, and number of cells.
    static let rowSizeBytes = 8 + 16 + 4 + 4

    /// Adds rows. At most `UInt32.max` of them fit in the memory of any query.
    mutating func add(_ batch: RowBatch) {
        for (reference, vector) in batch.references.present {
            guard let type = vector.type else { continue }
            if types[reference] == nil {
                types[reference] = plan.references[reference].type ?? type
            }
            for row in vector.isPresent.indices where vector.isPresent[row] {
                let bits = vector.bits[row]
                cells.append(
                    Cell(
                        row: UInt32(times.count + row), reference: UInt32(reference),
                        bits: type == .string ? texts.code(bits, in: vector.strings) : bits))
            }
        }
        times += batch.times
    }

    /// Returns the rows by time. Rows of one time keep their order.
    func sorted(_ context: ExecutionContext) throws(DatabaseError) -> SortedCells {
        let order = try TimeOrder.rows(times, isAscending: plan.isAscending, context)
        var rank = [UInt32](repeating: 0, count: order.count)
        for (place, row) in order.enumerated() { rank[row] = UInt32(place) }
        let starts = pieces(rank)
        return SortedCells(
            cells: self, order: order, rank: rank, starts: starts, sorted: byPiece(rank, starts),
            piece: Piece(texts.finished().strings, types))
    }

    /// The first row and the first cell of each piece, and the end of the last one.
    private func pieces(_ rank: [UInt32]) -> [(row: Int, cell: Int)] {
        var counts = [UInt32](repeating: 0, count: rank.count)
        for cell in cells { counts[Int(rank[Int(cell.row)])] += 1 }
        var starts = [(row: 0, cell: 0)]
        var (start, end) = (starts[0], 0)
        for row in counts.indices {
            let next = end + Int(counts[row])
            // No piece has more columns than cells.
            let width = max(1, min(types.count, next - start.cell))
            let count = row + 1 - start.row
            if count > 1,
                count > WindowCells.pieceRowCountMax
                    || count * width > WindowCells.pieceCellCountMax
            {
                start = (row, end)
                starts.append(start)
            }
            end = next
        }
        starts.append((rank.count, end))
        return starts
    }

    /// The indexes of the cells, piece by piece.
    private func byPiece(_ rank: [UInt32], _ starts: [(row: Int, cell: Int)]) -> [UInt32] {
        var pieceOfRow = [UInt32](repeating: 0, count: rank.count)
        for number in starts.indices.dropLast() {
            for row in starts[number].row..<starts[number + 1].row {
                pieceOfRow[row] = UInt32(number)
            }
        }
        var ends = starts.map(\.cell)
        var sorted = [UInt32](repeating: 0, count: cells.count)
        for (index, cell) in cells.enumerated() {
            let piece = Int(pieceOfRow[Int(rank[Int(cell.row)])])
            sorted[ends[piece]] = UInt32(index)
            ends[piece] += 1
        }
        return sorted
    }
}

/// The rows of cells by time, in pieces.
struct SortedCells {
    fileprivate let cells: WindowCells
    fileprivate let order: [Int]
    /// The place of each row in that order.
    fileprivate let rank: [UInt32]
    /// The first row and the first cell of each piece, and the end of the last one.
    fileprivate let starts: [(row: Int, cell: Int)]
    /// The indexes of the cells, piece by piece.
    fileprivate let sorted: [UInt32]
    fileprivate var piece: Piece
    fileprivate var number = 0

    /// Returns the next piece; nil after the last.
    mutating func next() -> (times: [Int64], references: RowColumns)? {
        guard number + 1 < starts.count else { return nil }
        defer { number += 1 }
        let rows = starts[number].row..<starts[number + 1].row
        piece.begin(rowCount: rows.count)
        for index in sorted[starts[number].cell..<starts[number + 1].cell] {
            let cell = cells.cells[Int(index)]
            piece.set(
                Int(cell.reference), row: Int(rank[Int(cell.row)]) - rows.lowerBound, cell.bits)
        }
        return (order[rows].map { cells.times[$0] }, piece.finished())
    }
}

/// The columns of consecutive rows, made value by value.
private struct Piece {
    private let texts: StringTable
    private let types: [Int: FieldType]
    private var rowCount = 0
    private var columns: [(reference: Int, vector: ResultVector)] = []
    /// The place of each reference in that list; -1 if it is not in it.
    private var places: [Int]
    /// The piece's code of each string plus one; 0 if it has none. Each piece has a table of its
    /// own, because work on a column may take time for each string of its table.
    private var codes: [UInt32]
    private var usedCodes: [Int] = []
    private var heap: [UInt8] = []
    private var ends: [Int] = []

    init(_ texts: StringTable, _ types: [Int: FieldType]) {
        self.texts = texts
        self.types = types
        places = Array(repeating: -1, count: (types.keys.max() ?? -1) + 1)
        codes = Array(repeating: 0, count: texts.count)
    }

    mutating func begin(rowCount: Int) {
        self.rowCount = rowCount
        for column in columns { places[column.reference] = -1 }
        for code in usedCodes { codes[code] = 0 }
        columns.removeAll(keepingCapacity: true)
        usedCodes.removeAll(keepingCapacity: true)
        (heap, ends) = ([], [])
    }

    mutating func set(_ reference: Int, row: Int, _ bits: UInt64) {
        var place = places[reference]
        if place < 0 {
            place = columns.count
            places[reference] = place
            let vector = ResultVector(
                type: types[reference], bits: Array(repeating: 0, count: rowCount),
                isPresent: Array(repeating: false, count: rowCount))
            columns.append((reference, vector))
        }
        let isText = columns[place].vector.type == .string && !ISOTime.isWord(bits)
        columns[place].vector.bits[row] = isText ? code(Int(bits)) : bits
        columns[place].vector.isPresent[row] = true
    }

    private mutating func code(_ code: Int) -> UInt64 {
        if codes[code] == 0 {
            texts.withBytes(UInt64(code)) { heap.append(copying: $0) }
            ends.append(heap.count)
            codes[code] = UInt32(ends.count)
            usedCodes.append(code)
        }
        return UInt64(codes[code] - 1)
    }

    mutating func finished() -> RowColumns {
        let strings = ends.isEmpty ? StringTable.empty : StringTable(heap: heap, ends: ends)
        var result = RowColumns(count: rowCount)
        for (reference, vector) in columns.sorted(by: { $0.reference < $1.reference }) {
            var vector = vector
            if vector.type == .string { vector.strings = strings }
            result[reference] = vector
        }
        return result
    }
}
