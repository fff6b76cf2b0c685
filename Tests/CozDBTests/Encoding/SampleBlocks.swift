// Blocks of values of many shapes: what Cozie sends, and the edges of every type.

import CozTestSupport

@testable import CozDB

enum SampleBlocks {
    /// A block in an encoding that can hold it.
    struct Encoded {
        var encoding: BlockEncoding
        var code: UInt8
        var bytes: [UInt8]
    }

    /// Some words in every encoding that can hold them; in place of `compressed` in the one that
    /// the encoder chooses.
    static func encoded(_ words: [UInt64], _ type: FieldType, by encoder: BlockEncoder) -> [Encoded]
    {
        BlockEncoding.allCases.compactMap { candidate in
            var writer = ByteWriter()
            var code = candidate.rawValue
            if candidate == .compressed {
                code = encoder.encode(words.span, type: type, into: &writer).rawValue
            } else if encoder.encode(words.span, type: type, as: candidate, into: &writer) == nil {
                return nil
            }
            return Encoded(encoding: candidate, code: code, bytes: writer.bytes)
        }
    }

    static let edgeIntegers: [Int64] = [
        .min, .min + 1, -1, 0, 1, .max - 1, .max, 1 << 31, -(1 << 31), 1 << 53, 255, 256,
    ]
    static let edgeFloats: [UInt64] = [
        0, 1 << 63, 1, (1 << 63) | 1,
        Double.nan.bitPattern, 0x7FF8_0000_DEAD_BEEF, 0xFFF0_0000_0000_0001,
        Double.infinity.bitPattern, (-Double.infinity).bitPattern,
        Double.greatestFiniteMagnitude.bitPattern, Double.leastNormalMagnitude.bitPattern,
        (0.1).bitPattern, (0.1 + 0.2).bitPattern, (-36.6).bitPattern, (1e22).bitPattern,
        (1e-22).bitPattern, (1e300).bitPattern, (4_503_599_627_370_497.5).bitPattern,
    ]

    /// Usually short, sometimes around the sizes at which layouts change.
    static func randomCount(using random: inout SeededRandom) -> Int {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Int.random(in: 0...20, using: &random)
        case 1: Int.random(in: 1000...1050, using: &random)
        case 2: Int.random(in: 0...2100, using: &random)
        default: 1024
        }
    }

    static func random(_ type: FieldType, using random: inout SeededRandom) -> [UInt64] {
        let count = randomCount(using: &random)
        let words =
            switch type {
            case .float: floats(count, using: &random)
            case .integer: integers(count, using: &random)
            case .string: (0..<count).map { _ in random.next() >> 56 }
            case .boolean: (0..<count).map { _ in random.next() & 1 }
            }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return words
        case 2: return interrupted(repeated(words, using: &random), by: words, using: &random)
        case 3:
            let few = words.prefix(Int.random(in: 1...40, using: &random))
            return words.map { few.isEmpty ? $0 : few.randomElement(using: &random)! }
        default: return repeated(words, using: &random)
        }
    }

    /// Runs with other words between them here and there.
    static func interrupted(
        _ runs: [UInt64], by words: [UInt64], using random: inout SeededRandom
    ) -> [UInt64] {
        var result = runs
        for index in result.indices where random.next() % 20 == 0 { result[index] = words[index] }
        return result
    }

    static func integers(_ count: Int, using random: inout SeededRandom) -> [UInt64] {
        let base = random.next()
        let shift = UInt64.random(in: 0...63, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            return (0..<count).map { _ in random.next() }
        case 1:
            return (0..<count).map { _ in base &+ random.next() >> shift }
        case 2:
            // Times: ascending, irregular milliseconds as nanoseconds.
            var time = base >> 4
            return (0..<count).map { _ in
                time &+= (random.next() >> 45) &* 1_000_000
                return time
            }
        case 3:
            // Small numbers with a few far away.
            return (0..<count).map { _ in
                let word = random.next()
                return word % 50 == 0 ? word : word >> 58
            }
        case 4:
            return (0..<count).map { _ in
                UInt64(bitPattern: edgeIntegers.randomElement(using: &random)!)
            }
        case 5:
            return [UInt64](repeating: base >> shift, count: count)
        default:
            let step = random.next() >> shift
            return (0..<count).map { base &+ UInt64($0) &* step }
        }
    }

    static func floats(_ count: Int, using random: inout SeededRandom) -> [UInt64] {
        switch Int.random(in: 0..<8, using: &random) {
        case 7:
            // Readings of a sensor, and averages of them.
            let digits = [0, 2, 5].map { Int.random(in: $0...9, using: &random) }
            return (0..<count).map { _ in
                let value = Double.random(in: -9...60, using: &random)
                guard let few = (digits + [99]).randomElement(using: &random), few < 99 else {
                    return value.bitPattern
                }
                let power = (0..<few).reduce(1.0) { power, _ in power * 10 }
                return ((value * power).rounded() / power).bitPattern
            }
        case 0:
            return (0..<count).map { _ in random.next() }
        case 1:
            return (0..<count).map { _ in edgeFloats.randomElement(using: &random)! }
        case 2:
            return (0..<count).map { _ in Double(random.next() >> 57).bitPattern }
        case 3, 4:
            // Decimals, some of them of another kind.
            let digits = Int.random(in: 0...8, using: &random)
            let power = (0..<digits).reduce(1.0) { power, _ in power * 10 }
            let isMixed = Bool.random(using: &random)
            return (0..<count).map { _ in
                let word = random.next()
                if isMixed, word % 40 == 0 {
                    return edgeFloats.randomElement(using: &random)!
                }
                return ((Double(word >> 44) - 300_000) / power).bitPattern
            }
        case 5:
            return (0..<count).map { _ in Double.random(in: 103.6...104, using: &random).bitPattern
            }
        default:
            return [UInt64](repeating: edgeFloats.randomElement(using: &random)!, count: count)
        }
    }

    /// The same words, each a few times in a row.
    static func repeated(_ words: [UInt64], using random: inout SeededRandom) -> [UInt64] {
        var result: [UInt64] = []
        let lengthMax = Int.random(in: 1...40, using: &random)
        for word in words where result.count < words.count {
            let length = Int.random(in: 1...lengthMax, using: &random)
            for _ in 0..<min(length, words.count - result.count) { result.append(word) }
        }
        return result
    }
}
