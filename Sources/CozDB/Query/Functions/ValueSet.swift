// The values of `x IN (...)`, of any types, with hashed lookup.

struct ValueSet: Sendable {
    /// The values as written.
    let values: [FieldValue]
    private var numbers: Set<Double> = []
    /// Integers are separate: beyond 2^53, several integers convert to one float.
    private var integers: Set<Int64> = []
    private var integersAsNumbers: Set<Double> = []
    private var texts: Set<Name> = []
    private var flags: Set<Bool> = []

    init(_ values: [FieldValue]) {
        self.values = values
        for value in values {
            switch value {
            case .float(let number):
                // NaN equals nothing. In a set, all of them would be compared with each other.
                if !number.isNaN { numbers.insert(number) }
            case .integer(let number):
                integers.insert(number)
                integersAsNumbers.insert(Double(number))
            case .string(let text): texts.insert(Name(text))
            case .boolean(let flag): flags.insert(flag)
            }
        }
    }

    /// Returns whether a value is in the set. An integer and a float are compared as floats.
    func contains(_ value: FieldValue) -> Bool {
        switch value {
        case .float(let number): numbers.contains(number) || integersAsNumbers.contains(number)
        case .integer(let number): integers.contains(number) || numbers.contains(Double(number))
        case .string(let text): texts.contains(Name(text))
        case .boolean(let flag): flags.contains(flag)
        }
    }
}
