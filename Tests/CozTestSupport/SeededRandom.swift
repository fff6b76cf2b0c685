// Random numbers that a failing test can repeat from the seed it prints.

/// SplitMix64: every seed, also 0, gives its own sequence.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
public struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns noise, which no compression makes shorter if the range is wide.
    public mutating func bytes(_ count: Int, in range: ClosedRange<UInt8>) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: range, using: &self) }
    }
}
