// The columns of some rows, of which most may be empty.

/// The columns that expressions over some rows read. Only columns with values are stored: of
/// thousands of columns, the rows of one series have few.
struct RowColumns {
    /// The number of rows.
    private(set) var count: Int
    /// The references that have a column, ascending.
    private(set) var references: [Int] = []
    private var vectors: [ResultVector] = []
    /// The calls that have values, ascending, with their values.
    private var calls: [(number: Int, values: ResultVector)] = []

    init(count: Int) {
        self.count = count
    }

    /// Makes space for columns.
    mutating func reserve(_ count: Int) {
        references.reserveCapacity(count)
        vectors.reserveCapacity(count)
    }

    /// The number of references and calls that have values.
    var columnCount: Int { references.count + calls.count }

    /// The calls that have values, ascending.
    var callNumbers: [Int] { calls.map(\.number) }

    /// The references that have a column, with it.
    var present: Zip2Sequence<[Int], [ResultVector]> { zip(references, vectors) }

    /// Returns the column of a reference; nil if it has no values.
    func column(_ reference: Int) -> ResultVector? {
        let place = references.partitioningIndex { $0 >= reference }
        return place < references.count && references[place] == reference ? vectors[place] : nil
    }

    /// Makes space for the values of calls.
    mutating func reserveCalls(_ count: Int) { calls.reserveCapacity(count) }

    /// Adds the values of a call. Numbers ascend.
    mutating func appendCall(_ number: Int, _ values: ResultVector) {
        calls.append((number, values))
    }

    /// Returns the values of a call; nulls if it has none.
    func call(_ number: Int) -> ResultVector {
        // Nearly always all calls have values.
        if number < calls.count, calls[number].number == number { return calls[number].values }
        let place = calls.partitioningIndex { $0.number >= number }
        return place < calls.count && calls[place].number == number
            ? calls[place].values : .constant(nil, count: count)
    }

    /// Returns the columns of some references. Those without values share their memory.
    func columns(_ references: [Int]) -> [ResultVector] {
        var nothing: ResultVector?
        return references.map { reference in
            if let known = column(reference) ?? nothing { return known }
            let made = ResultVector.constant(nil, count: count)
            nothing = made
            return made
        }
    }

    /// Appends the columns of the references below a number. Those without values share their
    /// memory.
    func append(to list: inout [ResultVector], below end: Int) {
        var next = 0
        var nothing: ResultVector?
        func appendNothing(upTo reference: Int) {
            guard next < reference else { return }
            let made = nothing ?? .constant(nil, count: count)
            nothing = made
            list.append(contentsOf: repeatElement(made, count: reference - next))
        }
        for (reference, vector) in present where reference < end {
            appendNothing(upTo: reference)
            list.append(vector)
            next = reference + 1
        }
        appendNothing(upTo: end)
    }

    /// The column of a reference. Cheapest to set in ascending order. Getting one without values
    /// makes a column of nulls.
    subscript(reference: Int) -> ResultVector {
        get { column(reference) ?? .constant(nil, count: count) }
        set {
            guard let last = references.last, reference <= last else {
                references.append(reference)
                vectors.append(newValue)
                return
            }
            let place = references.partitioningIndex { $0 >= reference }
            if references[place] == reference {
                vectors[place] = newValue
            } else {
                references.insert(reference, at: place)
                vectors.insert(newValue, at: place)
            }
        }
    }

    /// Returns other rows made of these.
    ///
    /// - Parameter count: the number of the other rows.
    func map(count: Int, _ change: (ResultVector) -> ResultVector) -> RowColumns {
        var result = RowColumns(count: count)
        result.references = references
        result.vectors = vectors.map(change)
        result.calls = calls.map { ($0.number, change($0.values)) }
        return result
    }

    /// Returns the rows at these indexes, in this order.
    func filtered(_ rows: [Int]) -> RowColumns { map(count: rows.count) { $0.filtered(rows) } }

    /// Keeps the rows at these indexes, in this order. Frees each column before it makes the next.
    mutating func keep(_ rows: [Int]) {
        count = rows.count
        for index in vectors.indices { vectors[index] = vectors[index].filtered(rows) }
        for index in calls.indices { calls[index].values = calls[index].values.filtered(rows) }
    }
}
