// The functions of technical analysis that InfluxQL has: moving averages that weigh recent points
// more, and indices of how steadily a value rises or falls. Each gives a value for each point; the
// first ones, in which too few points stand behind it, are held back.
// Where textbooks differ (the first averages, values before the first point) the rules are those of
// InfluxDB 1.8, so that the same statement gives the same numbers.

/// One call of such a function.
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

    /// How averages begin, before a whole period is behind them.
    enum Warmup: String, Sendable {
        /// As exponential averages of a shorter period.
        case exponential
        /// As the plain mean of what there is.
        case simple
        /// No averages at all: sums over the period. Of the momentum oscillator alone.
        case none
    }

    let kind: Kind
    /// Points that count; at least 1.
    private let period: Int
    /// Points at the beginning that give no result.
    private let hold: Int
    private let warmup: Warmup

    /// - Parameter hold: nil for as many points as the function needs to be steady.
    init(kind: Kind, period: Int64, hold: Int64?, warmup: Warmup) {
        self.kind = kind
        // Nobody has that many points: a longer period does the same.
        self.period = Int(clamping: min(period, Int64(Int32.max)))
        self.warmup = warmup
        self.hold =
            hold.map { Int(clamping: $0) }
            ?? TechnicalFunction.steadyAfter(kind, self.period, warmup)
    }

    private static func steadyAfter(_ kind: Kind, _ period: Int, _ warmup: Warmup) -> Int {
        // Averages of averages wait for one another, unless they begin at once.
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

    /// The results by the number of the point they belong to.
    ///
    /// - Parameter input: values of all points, in the order of the answer.
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

    /// By how many percent the triple average has changed since the point before. Before the first
    /// point it is zero, so that the first change is infinite.
    private func derivatives(of input: [Double]) -> [Double] {
        var chain = AverageChain(period: period, warmup: warmup, depth: depth)
        var previous = 0.0
        return input.map { value in
            let average = chain.add(value).innermost
            defer { previous = average }
            return (average / previous - 1) * 100
        }
    }

    /// Averages of the steps up and of the steps down. The first step is that from zero.
    private func risesAndFalls(of input: [Double]) -> [(rise: Double, fall: Double)] {
        // Wilder's smoothing: a new step weighs one period's share, not two.
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

    /// The sum of the steps up less that of the steps down, as a share of both in percent.
    private func momentum(of input: [Double]) -> [Double] {
        var steps: [Double] = []
        var (up, down) = (0.0, 0.0)
        return input.indices.map { row in
            let step = row == 0 ? 0 : input[row] - input[row - 1]
            steps.append(step)
            if step > 0 { up += step } else if step < 0 { down -= step }
            let result = up == 0 && down == 0 ? 0 : 100 * ((up - down) / (up + down))
            // The oldest step leaves after it has counted.
            if row >= period - 1 {
                let oldest = steps[row - (period - 1)]
                if oldest > 0 { up -= oldest } else if oldest < 0 { down += oldest }
            }
            return result
        }
    }

    /// How far the value has come in a period, as a share of the way it went: 1 for a straight
    /// line. Before the first point it is zero.
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

    /// An exponential average that follows fast where the value goes straight, slowly where it goes
    /// to and fro: between the weights of periods 2 and 30.
    private func adaptiveAverages(of input: [Double]) -> [Double] {
        let (fast, slow) = (2.0 / (2.0 + 1.0), 2.0 / (30.0 + 1.0))
        let ratios = efficiency(of: input)
        var average = 0.0
        return input.indices.map { row in
            // Until a period is over it begins again from the point before.
            if row <= period { average = row > 0 ? input[row - 1] : 0 }
            let root = ratios[row] * (fast - slow) + slow
            average += root * root * (input[row] - average)
            return average
        }
    }
}

/// A mean in which each new value has the same weight, and all earlier ones share the rest.
private struct ExponentialAverage {
    private let period: Int
    private let warmup: TechnicalFunction.Warmup
    private let weight: Double
    private var count = 0
    private(set) var value = 0.0

    /// - Parameter weight: of a new value; nil for 2 / (period + 1).
    init(period: Int, warmup: TechnicalFunction.Warmup, weight: Double? = nil) {
        self.period = period
        self.warmup = warmup
        self.weight = weight ?? 2 / Double(period + 1)
    }

    /// Whether a whole period is behind it.
    var isWarm: Bool { count == period }

    /// Whether another average can begin with this one's values.
    var isUsable: Bool { isWarm || warmup == .exponential }

    mutating func add(_ new: Double) {
        if count == 0 {
            value = new
        } else if isWarm {
            value += (new - value) * weight
        } else if warmup == .simple {
            value = (value * Double(count) + new) / Double(count + 1)
        } else {
            // As if the period were as long as there are values.
            value += (new - value) * (2 / Double(count + 2))
        }
        if count < period { count += 1 }
    }
}

/// Averages of averages.
private struct AverageChain {
    private var averages: [ExponentialAverage]

    init(period: Int, warmup: TechnicalFunction.Warmup, depth: Int) {
        averages = Array(
            repeating: ExponentialAverage(period: period, warmup: warmup), count: depth)
    }

    /// - Returns: the innermost average, and the combination of all in which the lag of one is made
    ///   up for by the others.
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
