// The values of `x IN (...)`, of any types, found without looking at each.

struct ValueSet: Sendable {
    /// As they were written.
    let values: [FieldValue]
    private var numbers: Set<Double> = []
    /// Integers apart: beyond 2^53 several are one float.
    private var integers: Set<Int64> = []
    private var integersAsNumbers: Set<Double> = []
    private var texts: Set<Name> = []
    private var flags: Set<Bool> = []

    init(_ values: [FieldValue]) {
        self.values = values
        for value in values {
            switch value {
            case .float(let number): numbers.insert(number)
            case .integer(let number):
                integers.insert(number)
                integersAsNumbers.insert(Double(number))
            case .string(let text): texts.insert(Name(text))
            case .boolean(let flag): flags.insert(flag)
            }
        }
    }

    /// Whether the value equals one of them; an integer and a float are compared as floats.
    func contains(_ value: FieldValue) -> Bool {
        switch value {
        case .float(let number): numbers.contains(number) || integersAsNumbers.contains(number)
        case .integer(let number): integers.contains(number) || numbers.contains(Double(number))
        case .string(let text): texts.contains(Name(text))
        case .boolean(let flag): flags.contains(flag)
        }
    }
}
