// Duration literals of the query language: parsing and formatting.

/// Durations in InfluxQL notation: `1w`, `90m`, `10u`.
package enum DurationText {
    static let units: [(letters: String, nanoseconds: Int64)] = [
        ("w", 604_800_000_000_000), ("d", 86_400_000_000_000), ("h", 3_600_000_000_000),
        ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("u", 1_000), ("ns", 1),
    ]

    /// Returns the duration as a multiple of the largest unit that divides it.
    package static func text(_ nanoseconds: Int64) -> String {
        guard nanoseconds != 0,
            let unit = units.first(where: { nanoseconds % $0.nanoseconds == 0 })
        else { return "0s" }
        return "\(nanoseconds / unit.nanoseconds)\(unit.letters)"
    }

    /// Parses a duration such as `1h30m`; nil if the text is malformed or exceeds 292 years.
    package static func nanoseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        var index = 0
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { index = 1 }
        guard index < bytes.count else { return nil }
        var total: Int64 = 0
        while index < bytes.count {
            var count: Int64 = 0
            let start = index
            while index < bytes.count, bytes[index].isDigit {
                let (product, over) = count.multipliedReportingOverflow(by: 10)
                let (sum, beyond) = product.addingReportingOverflow(Int64(bytes[index] - 48))
                guard !over, !beyond else { return nil }
                count = sum
                index += 1
            }
            guard index > start, let unit = unit(bytes, &index) else { return nil }
            let (part, over) = count.multipliedReportingOverflow(by: unit)
            let (sum, beyond) = total.addingReportingOverflow(part)
            guard !over, !beyond else { return nil }
            total = sum
        }
        return isNegative ? -total : total
    }

    private static func unit(_ bytes: [UInt8], _ index: inout Int) -> Int64? {
        var letters: [UInt8] = []
        while index < bytes.count, !bytes[index].isDigit {
            letters.append(bytes[index])
            index += 1
        }
        let text = String(decoding: letters, as: UTF8.self)
        // Unicode encodes the micro sign twice.
        if text == "\u{B5}" || text == "\u{3BC}" || text == "\u{B5}s" || text == "us" {
            return 1_000
        }
        return units.first { $0.letters == text }?.nanoseconds
    }
}
