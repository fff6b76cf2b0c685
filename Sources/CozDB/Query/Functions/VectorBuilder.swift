// Builds vectors from single values or from parts of other vectors. Strings from several tables are
// merged into one table that stores each distinct string once.

/// A builder for a vector of one type.
struct VectorBuilder {
    private(set) var type: FieldType?
    private var bits: [UInt64] = []
    private var isPresent: [Bool] = []
    /// The strings, indexed by code.
    private var texts = BytePool()
    /// The builder's codes for the strings of the most recent table, because its strings recur.
    /// Allocated after lookups of a sixteenth of the strings, as each of many groups may have a
    /// builder.
    private var lastTable: StringTable?
    private var lastCodes: [UInt64] = []
    private var lastLookupCount = 0
    private static let lookupFraction = 16

    init(type: FieldType?) {
        self.type = type
    }

    var count: Int { isPresent.count }

    /// The memory of a value without its string.
    static let rowSizeBytes = 9
    var sizeBytes: Int { count * VectorBuilder.rowSizeBytes + textSizeBytes }
    var textSizeBytes: Int { texts.heapSizeBytes + texts.count * 24 + lastCodes.count * 8 }

    mutating func reserve(_ count: Int) {
        bits.reserveCapacity(count)
        isPresent.reserveCapacity(count)
    }

    mutating func appendNull() {
        bits.append(0)
        isPresent.append(false)
    }

    mutating func appendNulls(_ count: Int) {
        bits.append(contentsOf: repeatElement(0, count: count))
        isPresent.append(contentsOf: repeatElement(false, count: count))
    }

    /// Appends nulls until the vector has a number of values.
    mutating func appendNulls(upTo count: Int) {
        guard self.count < count else { return }
        bits.append(contentsOf: repeatElement(0, count: count - self.count))
        isPresent.append(contentsOf: repeatElement(false, count: count - isPresent.count))
    }

    mutating func append(_ value: FieldValue?) {
        switch value {
        case .float(let number)?: append(.float, number.bitPattern)
        case .integer(let number)?: append(.integer, UInt64(bitPattern: number))
        case .boolean(let flag)?: append(.boolean, flag ? 1 : 0)
        case .string(let text)?: append(.string, code(text))
        case nil: appendNull()
        }
    }

    /// Appends a value other than a string, or the code of a string.
    mutating func append(_ type: FieldType, _ bits: UInt64) {
        if self.type == nil { self.type = type }
        self.bits.append(bits)
        isPresent.append(true)
    }

    mutating func append(_ vector: ResultVector) {
        if isPresent.isEmpty, let type = vector.type, type != .string {
            // Shares the arrays as long as no further values follow.
            if self.type == nil { self.type = type }
            (bits, isPresent) = (vector.bits, vector.isPresent)
            return
        }
        append(vector, rows: 0..<vector.count)
    }

    mutating func append(_ vector: ResultVector, rows: Range<Int>) {
        guard let type = vector.type else {
            for _ in rows { appendNull() }
            return
        }
        if self.type == nil { self.type = type }
        isPresent.append(contentsOf: vector.isPresent[rows])
        guard type == .string else {
            bits.append(contentsOf: vector.bits[rows])
            return
        }
        for row in rows {
            bits.append(vector.isPresent[row] ? code(vector.bits[row], in: vector.strings) : 0)
        }
    }

    mutating func append(_ vector: ResultVector, row: Int) {
        guard let type = vector.type, vector.isPresent[row] else { return appendNull() }
        append(
            type, type == .string ? code(vector.bits[row], in: vector.strings) : vector.bits[row])
    }

    /// Returns the builder's code for a string of another table. Encoded times keep theirs.
    mutating func code(_ code: UInt64, in table: StringTable) -> UInt64 {
        if ISOTime.isWord(code) { return code }
        if lastTable !== table {
            lastTable = table
            lastCodes = []
            lastLookupCount = 0
        }
        if lastCodes.isEmpty {
            lastLookupCount += 1
            if lastLookupCount * VectorBuilder.lookupFraction < table.count {
                return table.withBytes(code) { self.code($0) }
            }
            lastCodes = .filled(with: .max, count: table.count)
        }
        let known = lastCodes[Int(code)]
        if known != .max { return known }
        let new = table.withBytes(code) { self.code($0) }
        lastCodes[Int(code)] = new
        return new
    }

    mutating func code(_ text: String) -> UInt64 {
        let text = text.utf8
        return code(text.span)
    }

    private mutating func code(_ text: Span<UInt8>) -> UInt64 {
        // A text must have a single code, whether or not it arrives as an encoded time.
        ISOTime.word(of: text) ?? UInt64(texts.intern(text))
    }

    /// Returns the string of a code of this builder.
    func text(_ code: UInt64) -> String {
        if ISOTime.isWord(code) { return ISOTime.withBytes(code) { String(validating: $0) ?? "" } }
        return texts.text(Int(code))
    }

    func finished() -> ResultVector {
        ResultVector(
            type: type, bits: bits, isPresent: isPresent,
            strings: texts.count == 0 ? .empty : StringTable(heap: texts.heap, ends: texts.ends))
    }

    mutating func removeAll() {
        bits.removeAll(keepingCapacity: true)
        isPresent.removeAll(keepingCapacity: true)
        texts.removeAll()
        lastTable = nil
    }
}
