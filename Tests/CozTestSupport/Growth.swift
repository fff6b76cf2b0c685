// How the cost of something grows with its input: what a test may say of time on a busy machine.

internal import Foundation
internal import Glibc

/// Costs for n, 2n and 4n, in processor time of the calling thread.
///
/// Time of the processor does not count what others do meanwhile; of several runs the cheapest
/// counts, so that what is left is the work itself. The sizes take turns, so that a busy moment
/// does not meet one size alone, and costs that do not look linear are measured again. Quadratic
/// work has an exponent of 2, and what is tested here was measured at 1.9 to 3: 1.5 tells the two
/// apart however often it is measured.
public struct Growth: CustomStringConvertible {
    /// Whether tests run that are too slow, or tell too little beside others, for every commit.
    public static let isMeasured = ProcessInfo.processInfo.environment["COZDB_GROWTH"] != nil

    /// The sizes, and the seconds that each took.
    public private(set) var costs: [(size: Int, seconds: Double)] = []

    /// - Parameters:
    ///   - size: of the smallest input; large enough that it takes a millisecond.
    ///   - prepare: makes the input of a size; not measured.
    ///   - work: what is measured.
    public init<Input>(
        from size: Int, prepare: (Int) throws -> Input, _ work: (Input) throws -> Void
    ) rethrows {
        let sizes = [size, 2 * size, 4 * size]
        let inputs = try sizes.map(prepare)
        costs = sizes.map { ($0, .infinity) }
        for round in 1...30 {
            for (index, input) in inputs.enumerated() {
                let start = Growth.seconds()
                try work(input)
                costs[index].seconds = min(costs[index].seconds, Growth.seconds() - start)
            }
            if round >= 5 && isLinear { break }
        }
    }

    /// By what power of the size the cost grows, from the smallest to the largest.
    public var exponent: Double {
        log2(costs[2].seconds / costs[0].seconds) / 2
    }

    /// Whether the cost is about in proportion to the size.
    public var isLinear: Bool { exponent < 1.5 }

    /// Sizes, times and exponent.
    public var description: String {
        costs.map { "\($0.size): \($0.seconds) s" }.joined(separator: ", ")
            + ", exponent \(exponent)"
    }

    /// Processor time of the calling thread.
    public static func seconds() -> Double {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
