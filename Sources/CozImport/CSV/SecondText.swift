// A moment in words beside the same in milliseconds: does it say the same?

internal import CozDB

/// The text of a moment, `2020-02-25T18:18:31.262`, compared without making it for each row.
struct SecondText {
    /// Seconds since 1970 that the words are of; nil: none yet.
    private var second: Int64?
    /// The twenty bytes up to and including the point, eight a word.
    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

    /// Whether a cell says the same as the milliseconds. Old exports wrote the fraction without
    /// zeros in front: `.12` is twelve milliseconds.
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
    /// The quotient, rounded down; `divisor` above 0.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
