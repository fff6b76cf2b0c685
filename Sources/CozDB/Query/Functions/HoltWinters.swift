// The damped Holt-Winters method. It forecasts the buckets after the data from a level, a damped
// trend, and a factor per bucket of a season. The four smoothing constants and the initial values
// are those that would have predicted the known buckets best.
// Source: R. J. Hyndman, G. Athanasopoulos, "Forecasting: principles and practice". The first
// guesses and the order of computation follow InfluxDB 1.8, so the forecasts are identical.

struct HoltWinters: Sendable {
    /// The number of buckets to forecast; at least 1.
    let count: Int64
    /// The number of buckets in a season; 0 or 1 means no season.
    let season: Int64
    /// Whether the result includes the fitted values of the known buckets.
    let includesFit: Bool
    let buckets: TimeBuckets

    /// The longest season. The search has a dimension and a corner per bucket of the season.
    static let seasonMax = 1_000

    private var isSeasonal: Bool { season >= 2 }

    /// Fits the model and returns its forecasts.
    ///
    /// - Parameters:
    ///   - points: the buckets with a value, by ascending time; other orders yield no forecast.
    ///   - bucketsMax: the maximum number of known, missing and forecast buckets together.
    ///   - checkCancelled: a cancellation check, called often.
    /// - Throws: `limitExceeded`, or an error of `checkCancelled`.
    func predictions(
        _ points: (times: [Int64], values: [Double]), bucketsMax: Int,
        checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> (times: [Int64], values: [Double]) {
        guard let first = points.times.first, let last = points.times.last,
            points.times.count >= max(2, isSeasonal ? Int(clamping: season) : 0)
        else { return ([], []) }
        let (start, stop) = (rounded(first), rounded(last))
        var known =
            stop > start ? UInt64(bitPattern: stop &- start) / UInt64(buckets.interval) + 1 : 0
        // The buckets of a zone differ in length.
        var starts: [Int64] = []
        if buckets.zone != nil {
            starts = try buckets.starts(
                first: first, last: last, countMax: bucketsMax, checkCancelled: checkCancelled)
            known = UInt64(starts.count)
        }
        guard known > 1 else { return ([], []) }
        let all = known.addingReportingOverflow(UInt64(count))
        guard !all.overflow, all.partialValue <= UInt64(max(0, bucketsMax)) else {
            throw DatabaseError(
                .limitExceeded,
                "holt_winters() found \(known) buckets and \(count) to forecast; expected at most "
                    + "\(bucketsMax) in total (bucketCountMax); narrow the time range, use a "
                    + "longer interval, or forecast fewer buckets")
        }
        let values = knownValues(points, start: start, starts, count: Int(known))
        guard !isSeasonal || values.count >= season else { return ([], []) }
        guard season <= HoltWinters.seasonMax else {
            throw DatabaseError(
                .limitExceeded,
                "holt_winters() found a season of \(season) buckets; expected at most "
                    + "\(HoltWinters.seasonMax); use a longer interval or a shorter season")
        }
        var parameters = try fitted(values, checkCancelled)
        let predicted = predicted(values, count: Int(count), &parameters)
        return answer(predicted, known: values.count, first: first, last: last)
    }

    private func answer(
        _ predicted: [Double], known: Int, first: Int64, last: Int64
    ) -> (times: [Int64], values: [Double]) {
        var answer: (times: [Int64], values: [Double]) = ([], [])
        var time = includesFit ? first : next(last)
        for value in predicted[(includesFit ? 0 : known)...] {
            guard let start = time else { break }
            if !value.isNaN {
                answer.times.append(start)
                answer.values.append(value)
            }
            time = next(start)
        }
        return answer
    }

    /// Returns the start of the bucket after one; nil beyond the last time.
    private func next(_ start: Int64) -> Int64? {
        guard buckets.zone == nil else {
            let end = buckets.bounds(start).end
            return end <= Timestamp.max.nanoseconds ? end : nil
        }
        let (end, isOver) = start.addingReportingOverflow(buckets.interval)
        return isOver ? nil : end
    }

    // MARK: Buckets

    /// Returns the nearest multiple of the interval.
    private func rounded(_ time: Int64) -> Int64 {
        let interval = buckets.interval
        let down = time / interval * interval
        return time % interval > interval / 2 ? down.addingSaturating(interval) : down
    }

    /// Returns a value for each bucket from the first to the last; NaN for a bucket without one. If
    /// several points share a bucket, the first wins.
    ///
    /// - Parameter starts: the starts of the buckets of a zone; empty without one.
    private func knownValues(
        _ points: (times: [Int64], values: [Double]), start: Int64, _ starts: [Int64], count: Int
    ) -> [Double] {
        var values = Array(repeating: Double.nan, count: count)
        values[0] = points.values[0]
        var filled = 0
        for (time, value) in zip(points.times, points.values).dropFirst() {
            let place =
                starts.isEmpty
                ? (rounded(time) &- start) / buckets.interval
                : Int64(starts.partitioningIndex { $0 > time } - 1)
            guard place > filled, place < count else { continue }
            filled = Int(place)
            values[filled] = value
        }
        return values
    }

    // MARK: Fitting

    /// The indexes of the parameters in the list that the search optimizes.
    private enum Place {
        static let level = 0, trend = 1, season = 2, damping = 3
        /// Level and trend before the first bucket, then one factor per bucket of a season.
        static let firstLevel = 4, firstTrend = 5, factors = 6
    }

    private func guess(_ values: [Double]) -> [Double] {
        guard isSeasonal else {
            let trend = values[1].isNaN ? 0 : 0.5 * (values[1] - values[0])
            return [0, 0, 0, 0, 0.5 * values[0], trend]
        }
        let count = Int(season)
        let share = 1 / Double(count)
        var (level, trend) = (0.0, 0.0)
        for index in 0..<count where !values[index].isNaN { level += share * values[index] }
        for index in 0..<min(count, values.count - count) {
            let (now, later) = (values[index], values[count + index])
            if now.isNaN || later.isNaN { continue }
            trend += 1 / Double(count * count) * (later - now)
        }
        let factors = values[0..<count].map { $0.isNaN ? 0 : $0 / level }
        return [0, 0, 0, 0, level, trend] + factors
    }

    /// Returns the best result of searches from all combinations of two guesses per constant.
    private func fitted(
        _ values: [Double], _ checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> [Double] {
        let minimizer = SimplexMinimizer(tolerance: 1e-4)
        let guesses = [0.3, 0.3 + 0.4]
        var start = guess(values)
        var best: (cost: Double, point: [Double])?
        for level in guesses {
            for trend in guesses {
                for season in guesses {
                    for damping in guesses {
                        start.replaceSubrange(0..<4, with: [level, trend, season, damping])
                        let found = try minimizer.minimize(from: start) {
                            (parameters: inout [Double]) throws(DatabaseError) -> Double in
                            try checkCancelled()
                            return error(values, &parameters)
                        }
                        if let known = best, found.cost >= known.cost || found.cost.isNaN {
                            continue
                        }
                        best = found
                    }
                }
            }
        }
        return best?.point ?? start
    }

    /// Returns the sum of squared errors of the predictions for the known values.
    private func error(_ values: [Double], _ parameters: inout [Double]) -> Double {
        var sum = 0.0
        for (value, other) in zip(values, predicted(values, count: 0, &parameters))
        where !value.isNaN {
            if other.isNaN { return .infinity }
            sum += (other - value) * (other - value)
        }
        return sum
    }

    // MARK: Predicting

    /// Returns predictions for the known buckets and those after them; the first one is its value.
    ///
    /// - Parameter parameters: constants are clamped to 0...1; the seasonal factors are updated to
    ///   their state after the last bucket.
    private func predicted(
        _ values: [Double], count: Int, _ parameters: inout [Double]
    ) -> [Double] {
        for index in Place.level...Place.damping {
            // A NaN stays as it is; min() and max() could change it.
            if parameters[index] > 1 { parameters[index] = 1 }
            if parameters[index] < 0 { parameters[index] = 0 }
        }
        let (alpha, beta) = (parameters[Place.level], parameters[Place.trend])
        let (gamma, damping) = (parameters[Place.season], parameters[Place.damping])
        var level = parameters[Place.firstLevel]
        var trend = parameters[Place.firstTrend]
        var dampings = damping
        var value = values[0]
        var result = [value]
        result.reserveCapacity(values.count + count)
        let seasonCount = parameters.count - Place.factors
        for step in 1..<(values.count + count) {
            var (slot, factor, nextFactor) = (0, 1.0, 1.0)
            if seasonCount > 0 {
                slot = (2 * step - 2) % seasonCount
                factor = parameters[Place.factors + slot]
                nextFactor =
                    parameters[
                        Place.factors + (slot + step % seasonCount) % seasonCount]
            }
            // As in InfluxDB, continue from the prediction, not from the known value.
            let expected = level + damping * trend
            let newLevel = alpha * (value / factor) + (1 - alpha) * expected
            let newTrend = beta * (newLevel - level) + (1 - beta) * damping * trend
            let newFactor = gamma * (value / expected) + (1 - gamma) * factor
            value = (newLevel + dampings * newTrend) * nextFactor
            (level, trend) = (newLevel, newTrend)
            dampings += HoltWinters.power(damping, step)
            if seasonCount > 0 { parameters[Place.factors + slot] = newFactor }
            result.append(value)
        }
        return result
    }

    /// Returns a number from 0 to 1 (or NaN) raised to a positive integer power, rounded like Go's
    /// `math.Pow`: repeated squaring of the fraction with a separate exponent. The last bit
    /// matters: a different one can lead the search away from InfluxDB's result.
    private static func power(_ base: Double, _ exponent: Int) -> Double {
        guard exponent > 1, base > 0, base < 1 else { return base }
        // In 0.5..<1.
        var square = base.significand / 2
        var squareExponent = Int(base.exponent) + 1
        var product = 1.0
        var productExponent = 0
        var rest = exponent
        while rest > 0 {
            // Underflows a Double.
            if squareExponent < -4096 { return 0 }
            if rest & 1 == 1 {
                product *= square
                productExponent += squareExponent
            }
            square *= square
            squareExponent *= 2
            if square < 0.5 {
                square *= 2
                squareExponent -= 1
            }
            rest >>= 1
        }
        return Double(sign: .plus, exponent: productExponent, significand: product)
    }
}
