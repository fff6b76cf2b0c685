// One row of JSON values. It is collected first and then written as a point, because the key of the
// experiment may come last.

internal import CozDB

/// A JSON value and its column.
struct ObjectCell {
    enum Kind {
        case integer, float, boolean, string
    }

    /// Index of the column.
    var column: Int
    var kind: Kind
    /// The bits of a number or boolean, as `WriteBatch.append` takes them.
    var bits: UInt64
    /// The text of the value, as a range of `ObjectRow.texts`.
    var text: Range<Int>
}

struct ObjectRow: ~Copyable {
    private(set) var cells: [ObjectCell] = []
    private var buffer = PaddedBuffer()
    /// Why the whole row must be refused; nil if it is valid.
    private(set) var problem: String?

    var texts: PaddedBytes { buffer.bytes }

    mutating func removeAll() {
        cells.removeAll(keepingCapacity: true)
        buffer.removeAll()
        problem = nil
    }

    /// Adds the value that the scanner read last; null adds nothing.
    mutating func add(_ token: JSONToken, _ scanner: JSONScanner, column: Int, _ name: [UInt8]) {
        let start = buffer.count
        let kind: ObjectCell.Kind
        var bits: UInt64 = 0
        switch token {
        case .null: return
        case .integer, .float:
            kind = token == .integer ? .integer : .float
            bits = scanner.bits
            append(scanner)
        case .string:
            kind = .string
            append(scanner)
        case .yes, .no:
            kind = .boolean
            bits = token == .yes ? 1 : 0
            append(Array((token == .yes ? "true" : "false").utf8))
        case .hugeNumber:
            return refuse(name, "a number too large for a float")
        default: return refuse(name, "an object or array")
        }
        cells.append(
            ObjectCell(column: column, kind: kind, bits: bits, text: start..<buffer.count))
    }

    /// Makes a cell one of another column.
    mutating func move(_ index: Int, to column: Int) { cells[index].column = column }

    private mutating func append(_ scanner: JSONScanner) {
        if scanner.hasEscapes {
            var bytes: [UInt8] = []
            scanner.appendContents(to: &bytes)
            append(bytes)
        } else {
            scanner.text.withSpan(scanner.contents) { buffer.append($0) }
        }
    }

    private mutating func append(_ bytes: [UInt8]) {
        buffer.append(bytes.span)
    }

    private mutating func refuse(_ name: [UInt8], _ found: String) {
        let key = String(decoding: name, as: UTF8.self)
        problem =
            problem
            ?? "\"\(key)\" is \(found), expected a number, a string, true, false or null"
    }
}
