// Formats the `index` column: times as the researcher API prints them.

internal import CozDB

/// Formats times like strftime with `%Y-%m-%d %H:%M:%S.%f%z`: six fraction digits, truncated, and
/// an offset without a colon, with seconds if it has any.
struct ResearcherIndex {
    private let zone: TimeZoneRules?
    private var scratch: [UInt8] = []

    /// - Parameter zone: nil means UTC.
    init(_ zone: TimeZoneRules?) {
        self.zone = zone
    }

    mutating func append(_ nanoseconds: Int64, to bytes: inout [UInt8]) {
        var time = Timestamp(nanoseconds: nanoseconds)
        let offset = zone?.offsetSeconds(at: time) ?? 0
        // The text is in the offset without its seconds, which zones had until 1972.
        let rest = Int64(offset % 60) * 1_000_000_000
        let (shifted, isOver) = nanoseconds.addingReportingOverflow(rest)
        if !isOver { time = Timestamp(nanoseconds: shifted) }
        scratch.removeAll(keepingCapacity: true)
        // The format is 2025-10-15T02:25:21.570000000Z.
        time.appendText(to: &scratch, offsetSeconds: offset, fractionDigits: .nine)
        bytes.append(contentsOf: scratch[0..<10])
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: scratch[11..<26])
        bytes.append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        let seconds = offset.magnitude
        append(twoDigits: seconds / 3600, to: &bytes)
        append(twoDigits: seconds / 60 % 60, to: &bytes)
        if seconds % 60 != 0 { append(twoDigits: seconds % 60, to: &bytes) }
    }

    private func append(twoDigits number: UInt, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}
