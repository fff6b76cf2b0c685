// Dictionary encoding within a block. docs/format/encodings.md, "distinct".
//
//     count        varint    number of distinct values
//     encoding     u8        of the values
//     values       blob      block, ascending as unsigned words
//     encoding     u8        of the numbers
//     numbers      block of integers: for each value its index among the distinct ones

/// Plans and writes blocks with few distinct values. Reuses its memory between blocks.
struct DistinctEncoder {
    /// Exact size of what `write` appends; nil if there are too many distinct values.
    private(set) var sizeBytes: Int?

    private var values: [UInt64] = []
    private var numbers: [UInt64] = []
    private var places: [UInt64] = []
    /// A hash table: index of a value + 1, 0 if free. Allocated by the first plan.
    private var slots: [UInt16] = []
    private var valueEncoder = SimpleEncoder()
    private var numberEncoder = SimpleEncoder()

    private static let countMax = 256
    private static let slotCount = 1024
    /// Number of values after which the plan is abandoned if nearly all are distinct.
    private static let sampleCount = 64

    mutating func clear() {
        sizeBytes = nil
    }

    mutating func plan(
        _ words: Span<UInt64>, runCount: Int, type: FieldType, _ search: EncodingSearch
    ) {
        sizeBytes = nil
        guard type != .boolean, runCount > 2, words.count >= 8, collect(words) else { return }
        sort()
        let (values, numbers) = (values, numbers)
        valueEncoder.plan(values.span, type: type, search)
        let overhead =
            varintSizeBytes(UInt64(values.count)) + valueEncoder.partSizeBytes(isLast: false)
        guard overhead <= search.sizeBytesMax else { return }
        numberEncoder.plan(numbers.span, type: .integer, search.beside(overhead))
        sizeBytes = overhead + numberEncoder.partSizeBytes(isLast: true)
    }

    mutating func write(into writer: inout ByteWriter) {
        writer.appendVarint(values.count)
        let (values, numbers) = (values, numbers)
        valueEncoder.writePart(values.span, isLast: false, into: &writer)
        numberEncoder.writePart(numbers.span, isLast: true, into: &writer)
    }

    /// Numbers the values in order of occurrence. Returns false if there are too many distinct
    /// ones.
    private mutating func collect(_ words: Span<UInt64>) -> Bool {
        values.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        let limit = min(Self.countMax, words.count / 2)
        var isFew = true
        if slots.isEmpty { slots = [UInt16](repeating: 0, count: Self.slotCount) }
        // Moved out, so that the loop works on uniquely referenced memory.
        var values: [UInt64] = []
        var slots: [UInt16] = []
        swap(&values, &self.values)
        swap(&slots, &self.slots)
        var table = slots.mutableSpan
        for slot in table.indices { table[slot] = 0 }
        numbers.append(addingCapacity: words.count) { output in
            for index in words.indices {
                let word = words[index]
                var slot = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 54)
                while table[slot] != 0, values[Int(table[slot]) - 1] != word {
                    slot = (slot + 1) & (Self.slotCount - 1)
                }
                if table[slot] == 0 {
                    isFew =
                        values.count < limit
                        && (index != Self.sampleCount || values.count <= index / 8 * 7)
                    if !isFew { return }
                    values.append(word)
                    table[slot] = UInt16(truncatingIfNeeded: values.count)
                }
                output.append(UInt64(table[slot]) - 1)
            }
        }
        swap(&values, &self.values)
        swap(&slots, &self.slots)
        return isFew
    }

    /// Sorts the distinct values, because ascending ones are encoded smallest.
    private mutating func sort() {
        let order = values.indices.sorted { values[$0] < values[$1] }
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(0, count: values.count))
        for (place, number) in order.enumerated() { places[number] = UInt64(place) }
        values = order.map { values[$0] }
        for index in numbers.indices { numbers[index] = places[Int(numbers[index])] }
    }
}
