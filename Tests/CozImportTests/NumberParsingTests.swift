// Numbers against strtod, bit for bit.

internal import CozTestSupport
internal import Glibc
internal import Testing

@testable internal import CozImport

@Suite struct NumberParsingTests {
    private func scan(_ text: String) -> (number: ScannedNumber, size: Int) {
        var buffer = PaddedBuffer()
        buffer.append(text.utf8.span)
        return (NumberParsing.scan(buffer.bytes, at: 0), buffer.count)
    }

    private func expectEqualToStrtod(_ text: String, _ comment: Comment = "") {
        let (number, size) = scan(text)
        #expect(number.kind == .float && number.end == size, "\(text) \(comment)")
        let expected = unsafe strtod(text, nil)
        #expect(Double(bitPattern: number.bits) == expected, "\(text) \(comment)")
        #expect(number.bits == expected.bitPattern, "\(text) \(comment)")
    }

    @Test func `floats in every spelling equal strtod`() {
        let texts = [
            "0", "-0", "0.0", "-0.0", "1", "1.", ".1", "-.1", "00001.5", "1e4", "1E4", "1e+4",
            "1.0E-4", "1e-05", "123456789", "1234567890123456", "9007199254740993",
            "9007199254740992", "9007199254740991.5", "1760495140864.0", "36.75226019894704",
            "0.1", "0.30000000000000004", "1.7976931348623157e+308", "00001.7976931348623157e+308",
            "-1.7976931348623157e+308", "4.9406564584124654e-324", "2.2250738585072014e-308",
            "1e-400", "0e500", "1e22", "1e23", "8.5e22", "12345678901234567890",
            "1.2345678901234567890123", "100000000000000000000000000", "5e-324", "1.e5",
            "9223372036854775807", "18446744073709551615", "1e0000000000000000005",
        ]
        for text in texts { expectEqualToStrtod(text) }
    }

    @Test func `what is no float is told apart`() {
        for text in ["-", ".", "-.", "-i", ".i"] { #expect(scan(text).number.kind == .invalid) }
        for text in ["1e", "1e+", "1e400", "-1e400", "1e999999999"] {
            #expect(scan(text).number.kind == .invalidFloat, "\(text)")
        }
        #expect(scan("1u").number.kind == .unsigned)
        #expect(scan("1.1.1").number.end == 3)
        #expect(scan("1_000").number.end == 1)
    }

    @Test func `integers cover 64 bits and no more`() {
        for value in [0, 7, -1, 99_999_999, Int64.max, Int64.min, Int64.min + 1, 1 << 53] {
            let (number, size) = scan("\(value)i")
            #expect(number.kind == .integer && number.end == size)
            #expect(Int64(bitPattern: number.bits) == value)
        }
        #expect(scan("0000000000000000000000000012i").number.bits == 12)
        #expect(scan("9223372036854775808i").number.kind == .overflow)
        #expect(scan("-9223372036854775809i").number.kind == .overflow)
        #expect(scan("99999999999999999999999i").number.kind == .overflow)
    }

    @Test func `random numbers equal strtod`() {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<60_000 {
            let bits = Double(bitPattern: random.next())
            if bits.isFinite { expectEqualToStrtod("\(bits)", "seed \(seed)") }
            let digits = Int.random(in: 1...19, using: &random)
            var text = random.next() % 2 == 0 ? "-" : ""
            let pointAt = Int.random(in: 0...digits, using: &random)
            for place in 0..<digits {
                if place == pointAt { text += "." }
                text += String(random.next() % 10)
            }
            if random.next() % 2 == 0 { text += "e\(Int.random(in: -330...300, using: &random))" }
            if scan(text).number.kind == .float { expectEqualToStrtod(text, "seed \(seed)") }
        }
    }

    /// Halfway cases and their neighbors are where rounding goes wrong.
    @Test func `numbers beside a boundary equal strtod`() {
        var random = SeededRandom(seed: 7)
        for exponent in PowersOfFive.range {
            for mantissa: UInt64 in [1, 3, 7, 9, .max, 1 << 53 + 1, 1 << 63 + 1 << 10] {
                expectEqualToStrtod("\(mantissa)e\(exponent)")
                expectEqualToStrtod("\(random.next())e\(exponent)")
            }
        }
        for _ in 0..<5_000 {
            let even = 1 << 53 + 2 * (random.next() >> 12)
            expectEqualToStrtod("\(even + 1)")
            expectEqualToStrtod("\(even + 1).0")
            expectEqualToStrtod("\(even * 4 + 2)")
            expectEqualToStrtod("\(even * 4 + 6)")
        }
    }
}
