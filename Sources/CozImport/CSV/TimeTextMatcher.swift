// Checks whether a time as text repeats the time in milliseconds next to it.

internal import CozDB

/// Compares texts such as `2020-02-25T18:18:31.262` with a time. Caches the text of the second,
/// which is mostly the same from row to row.
struct TimeTextMatcher {
    /// The cached second, since 1970; nil at first.
    private var second: Int64?
    /// The first twenty bytes of the text, through the decimal point: 8, 8 and 4 bytes.
    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

    /// Whether a cell is the text of `milliseconds`. Old exports omit leading zeros of the
    /// fraction: `.12` means twelve milliseconds.
    @inline(__always) mutating func agrees(
        _ bytes: PaddedBytes, _ cell: Range<Int>, _ milliseconds: Int64
    ) -> Bool {
        guard cell.count >= 21 && cell.count <= 23 else { return false }
        let second = milliseconds.flooredQuotient(by: 1000)
        if self.second != second { prepare(second) }
        let start = cell.lowerBound
        guard bytes.word(start) == words.0, bytes.word(start + 8) == words.1,
            bytes.word(start + 16) & 0xFFFF_FFFF == words.2
        else { return false }
        var fraction: Int64 = 0
        for index in (start + 20)..<cell.upperBound {
            let digit = bytes[index] &- 0x30
            if digit > 9 { return false }
            fraction = fraction * 10 + Int64(digit)
        }
        guard fraction == milliseconds - second * 1000 else { return false }
        return cell.count == 23 || bytes[start + 20] != UInt8(ascii: "0") || cell.count == 21
    }

    private mutating func prepare(_ second: Int64) {
        self.second = second
        var bytes = Array("\(Timestamp(nanoseconds: second * 1_000_000_000))".utf8.prefix(19))
        bytes.append(UInt8(ascii: "."))
        let parts = [0..<8, 8..<16, 16..<20].map { range in
            bytes[range].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        words = (parts[0], parts[1], parts[2])
    }
}

extension Int64 {
    /// The quotient, rounded down; `divisor` must be positive.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
