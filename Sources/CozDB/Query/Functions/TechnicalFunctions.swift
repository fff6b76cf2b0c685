// InfluxQL's technical analysis functions: moving averages that favor recent points, and indexes of
// how steadily a value rises or falls. Each yields one result per point, except for the first
// points, which have too little history. Textbooks differ on the initial averages and on the values
// before the first point; the rules here are those of InfluxDB 1.8, so results are identical.

/// One call of a technical analysis function.
struct TechnicalFunction: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case exponentialAverage = "exponential_moving_average"
        case doubleAverage = "double_exponential_moving_average"
        case tripleAverage = "triple_exponential_moving_average"
        case tripleDerivative = "triple_exponential_derivative"
        case relativeStrength = "relative_strength_index"
        case efficiencyRatio = "kaufmans_efficiency_ratio"
        case adaptiveAverage = "kaufmans_adaptive_moving_average"
        case momentumOscillator = "chande_momentum_oscillator"
    }

    /// How averages start before a full period has passed.
    enum Warmup: String, Sendable {
        /// Start as exponential averages of a shorter period.
        case exponential
        /// Start as the arithmetic mean of the values so far.
        case simple
        /// Use sums over the period instead of averages; only for the momentum oscillator.
        case none
    }

    let kind: Kind
    /// The period in points; at least 1.
    private let period: Int
    /// The number of initial points without a result.
    private let hold: Int
    private let warmup: Warmup

    /// - Parameter hold: the number of initial points without a result; nil for the default.
    init(kind: Kind, period: Int64, hold: Int64?, warmup: Warmup) {
        self.kind = kind
        // No series has that many points, so a longer period has the same effect.
        self.period = Int(clamping: min(period, Int64(Int32.max)))
        self.warmup = warmup
        self.hold =
            hold.map { Int(clamping: $0) }
            ?? TechnicalFunction.steadyAfter(kind, self.period, warmup)
    }

    private static func steadyAfter(_ kind: Kind, _ period: Int, _ warmup: Warmup) -> Int {
        // Chained averages wait for each other unless they start at once.
        let isChained = warmup != .exponential
        switch kind {
        case .exponentialAverage: return period - 1
        case .doubleAverage: return (period - 1) * (isChained ? 2 : 1)
        case .tripleAverage: return (period - 1) * (isChained ? 3 : 1)
        case .tripleDerivative: return (period - 1) * (isChained ? 3 : 1) + 1
        case .relativeStrength, .efficiencyRatio, .adaptiveAverage: return period
        case .momentumOscillator: return warmup == .none ? period - 1 : period
        }
    }

    /// Returns the results, each with the index of its point.
    ///
    /// - Parameter input: the values of all points in result order.
    func results(of input: [Double]) -> [(row: Int, value: Double)] {
        let values = values(of: input)
        var results: [(row: Int, value: Double)] = []
        for row in values.indices.dropFirst(hold) {
            if values[row].isInfinite, leavesOutInfinity { continue }
            results.append((row, values[row]))
        }
        return results
    }

    private var leavesOutInfinity: Bool {
        switch kind {
        case .tripleDerivative, .efficiencyRatio, .adaptiveAverage: true
        default: false
        }
    }

    private func values(of input: [Double]) -> [Double] {
        switch kind {
        case .exponentialAverage, .doubleAverage, .tripleAverage:
            var chain = AverageChain(period: period, warmup: warmup, depth: depth)
            return input.map { chain.add($0).corrected }
        case .tripleDerivative: return derivatives(of: input)
        case .relativeStrength:
            return risesAndFalls(of: input).map { 100 - 100 / (1 + $0.rise / $0.fall) }
        case .efficiencyRatio: return efficiency(of: input)
        case .adaptiveAverage: return adaptiveAverages(of: input)
        case .momentumOscillator where warmup == .none: return momentum(of: input)
        case .momentumOscillator:
            return risesAndFalls(of: input).map {
                100 * (($0.rise - $0.fall) / ($0.rise + $0.fall))
            }
        }
    }

    private var depth: Int {
        switch kind {
        case .doubleAverage: 2
        case .tripleAverage, .tripleDerivative: 3
        default: 1
        }
    }

    /// Returns the percentage change of the triple average since the previous point. The value
    /// before the first point is zero, so the first change is infinite.
    private func derivatives(of input: [Double]) -> [Double] {
        var chain = AverageChain(period: period, warmup: warmup, depth: depth)
        var previous = 0.0
        return input.map { value in
            let average = chain.add(value).innermost
            defer { previous = average }
            return (average / previous - 1) * 100
        }
    }

    /// Returns the averages of upward and of downward steps. The first step starts at zero.
    private func risesAndFalls(of input: [Double]) -> [(rise: Double, fall: Double)] {
        // Wilder's smoothing: a new step has weight 1/period instead of 2/(period + 1).
        var rise = ExponentialAverage(
            period: period + 1, warmup: warmup, weight: 1 / Double(period))
        var fall = rise
        var previous = 0.0
        return input.map { value in
            defer { previous = value }
            rise.add(value > previous ? value - previous : 0)
            fall.add(value < previous ? previous - value : 0)
            return (rise.value, fall.value)
        }
    }

    /// Returns the upward minus the downward steps, as a percentage of all steps.
    private func momentum(of input: [Double]) -> [Double] {
        var steps: [Double] = []
        var (up, down) = (0.0, 0.0)
        return input.indices.map { row in
            let step = row == 0 ? 0 : input[row] - input[row - 1]
            steps.append(step)
            if step > 0 { up += step } else if step < 0 { down -= step }
            let result = up == 0 && down == 0 ? 0 : 100 * ((up - down) / (up + down))
            // The oldest step still counts for this point; remove it for the next one.
            if row >= period - 1 {
                let oldest = steps[row - (period - 1)]
                if oldest > 0 { up -= oldest } else if oldest < 0 { down += oldest }
            }
            return result
        }
    }

    /// Returns the net change over a period divided by the sum of the absolute steps: 1 for a
    /// straight line. The value before the first point is zero.
    private func efficiency(of input: [Double]) -> [Double] {
        var steps: [Double] = []
        var way = 0.0
        return input.indices.map { row in
            let oldest = row >= period ? input[row - period] : 0
            let distance = (input[row] - oldest).magnitude
            let step = (input[row] - (row > 0 ? input[row - 1] : 0)).magnitude
            steps.append(step)
            way -= row >= period ? steps[row - period] : 0
            way += step
            return distance == 0 || way == 0 ? 0 : distance / way
        }
    }

    /// Returns an exponential average that adapts quickly to a steady trend and slowly to an
    /// oscillating value. Its weight lies between those of periods 2 and 30.
    private func adaptiveAverages(of input: [Double]) -> [Double] {
        let (fast, slow) = (2.0 / (2.0 + 1.0), 2.0 / (30.0 + 1.0))
        let ratios = efficiency(of: input)
        var average = 0.0
        return input.indices.map { row in
            // During the first period, the average restarts at the previous point.
            if row <= period { average = row > 0 ? input[row - 1] : 0 }
            let root = ratios[row] * (fast - slow) + slow
            average += root * root * (input[row] - average)
            return average
        }
    }
}

/// An exponential moving average.
private struct ExponentialAverage {
    private let period: Int
    private let warmup: TechnicalFunction.Warmup
    private let weight: Double
    private var count = 0
    private(set) var value = 0.0

    /// - Parameter weight: the weight of a new value; nil for 2 / (period + 1).
    init(period: Int, warmup: TechnicalFunction.Warmup, weight: Double? = nil) {
        self.period = period
        self.warmup = warmup
        self.weight = weight ?? 2 / Double(period + 1)
    }

    /// Whether a full period has passed.
    var isWarm: Bool { count == period }

    /// Whether the next average of a chain can use this one's values.
    var isUsable: Bool { isWarm || warmup == .exponential }

    mutating func add(_ new: Double) {
        if count == 0 {
            value = new
        } else if isWarm {
            value += (new - value) * weight
        } else if warmup == .simple {
            value = (value * Double(count) + new) / Double(count + 1)
        } else {
            // Use the number of values so far as the period.
            value += (new - value) * (2 / Double(count + 2))
        }
        if count < period { count += 1 }
    }
}

/// A chain of averages, each over the values of the previous one.
private struct AverageChain {
    private var averages: [ExponentialAverage]

    init(period: Int, warmup: TechnicalFunction.Warmup, depth: Int) {
        averages = Array(
            repeating: ExponentialAverage(period: period, warmup: warmup), count: depth)
    }

    /// Adds a value.
    ///
    /// - Returns: the last average, and the combination of all that compensates for their lag.
    mutating func add(_ value: Double) -> (innermost: Double, corrected: Double) {
        var values: [Double] = []
        var current = value
        var isReached = true
        for index in averages.indices {
            if isReached {
                averages[index].add(current)
                current = averages[index].value
                isReached = averages[index].isUsable
            }
            values.append(current)
        }
        switch values.count {
        case 1: return (current, values[0])
        case 2: return (current, 2 * values[0] - values[1])
        default: return (current, 3 * values[0] - 3 * values[1] + values[2])
        }
    }
}
