// Rows of a batch as JSON values separated by commas, with or without keys: columns are looked at
// once per batch, so that the many that are empty cost nothing per row.

internal import CozDB

struct JSONRow {
    /// Bytes collected before they are handed on.
    static let pieceSizeBytes = 1 << 15

    private enum Kind {
        case time, float, integer, boolean, string
    }

    /// Columns with a value in some row, and the text that stands before the cell of each.
    private var vectors: [ResultVector] = []
    private var kinds: [Kind] = []
    private var befores: [[UInt8]] = []
    /// What stands behind the last cell.
    private var rest: [UInt8] = []
    private let time: TimeText
    private let offset: ((Int64) -> Int)?
    private let likeGo: Bool

    /// - Parameter keys: quoted, with the colon; nil where cells have none.
    init(
        _ batch: ResultBatch, isTime: [Bool], keys: [[UInt8]]? = nil, time: TimeText,
        offset: ((Int64) -> Int)?, likeGo: Bool = false
    ) {
        self.time = time
        self.offset = offset
        self.likeGo = likeGo
        for (index, vector) in batch.columns.enumerated() {
            if index > 0 { rest.append(UInt8(ascii: ",")) }
            if let keys { rest.append(contentsOf: keys[index]) }
            guard let type = vector.type, (0..<batch.count).contains(where: { !vector.isNull($0) })
            else {
                rest.append(contentsOf: "null".utf8)
                continue
            }
            let kind: Kind =
                switch type {
                case .integer: isTime[index] ? .time : .integer
                case .float: .float
                case .boolean: .boolean
                case .string: .string
                }
            befores.append(rest)
            vectors.append(vector)
            kinds.append(kind)
            rest = []
        }
    }

    func append(_ row: Int, to bytes: inout [UInt8]) {
        for index in vectors.indices {
            bytes.append(contentsOf: befores[index])
            if vectors[index].isNull(row) {
                bytes.append(contentsOf: JSONRow.null)
            } else if kinds[index] == .string {
                append(text: vectors[index], row, to: &bytes)
            } else {
                append(vectors[index].bits(row), kinds[index], to: &bytes)
            }
        }
        bytes.append(contentsOf: rest)
    }

    private func append(_ bits: UInt64, _ kind: Kind, to bytes: inout [UInt8]) {
        switch kind {
        case .time: append(time: Int64(bitPattern: bits), to: &bytes)
        case .integer: NumberText.append(Int64(bitPattern: bits), to: &bytes)
        case .boolean: bytes.append(contentsOf: (bits != 0 ? "true" : "false").utf8)
        case .float:
            let number = Double(bitPattern: bits)
            // JSON has no word for NaN and the infinities.
            if number.isFinite {
                NumberText.append(number, to: &bytes)
            } else {
                bytes.append(contentsOf: JSONRow.null)
            }
        case .string: break
        }
    }

    private func append(time nanoseconds: Int64, to bytes: inout [UInt8]) {
        if case .epoch(1) = time.style { return NumberText.append(nanoseconds, to: &bytes) }
        if !time.isNumber { bytes.append(UInt8(ascii: "\"")) }
        time.append(nanoseconds, offset: offset?(nanoseconds) ?? 0, to: &bytes)
        if !time.isNumber { bytes.append(UInt8(ascii: "\"")) }
    }

    private func append(text vector: ResultVector, _ row: Int, to bytes: inout [UInt8]) {
        let isPlain = vector.withText(row) { text in
            for index in text.indices where !JSONRow.isPlain(text[index]) { return false }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(addingCapacity: text.count) { output in
                for index in text.indices { output.append(text[index]) }
            }
            bytes.append(UInt8(ascii: "\""))
            return true
        }
        if !isPlain { JSONText.append(vector.text(row), likeGo: likeGo, to: &bytes) }
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
