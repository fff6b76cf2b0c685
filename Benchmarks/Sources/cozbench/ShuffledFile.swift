// A file with its lines in random order: the input when all data is late.

internal import CozDB

enum ShuffledFile {
    /// Shuffles the lines after the header. The same seed gives the same file.
    static func write(_ source: String, to target: String, seed: UInt64) throws(DatabaseError) {
        let lines = try LineFile(source)
        var random = SplitMix(state: seed)
        var order = (0..<UInt32(lines.lineCount)).map { $0 }
        order.shuffle(using: &random)
        let output = try OutputFile(target)
        unsafe try output.append(UnsafeRawBufferPointer(rebasing: lines.bytes[..<lines.headerEnd]))
        for number in order {
            let line = unsafe lines.line(Int(number))
            unsafe try output.append(line)
            // The last line of the source may lack a newline.
            if unsafe line.last != 10 { try output.append("\n") }
        }
        try output.flush()
        print("\(order.count) lines")
    }
}

/// The SplitMix64 generator. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
