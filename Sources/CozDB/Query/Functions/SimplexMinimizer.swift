// The Nelder-Mead method: minimizes a function of several variables without its derivative. A
// simplex with one corner more than variables moves downhill by reflecting its worst corner; it
// expands after a success and contracts after a failure.
// Source: J. A. Nelder, R. Mead, "A simplex method for function minimization", 1965.

struct SimplexMinimizer {
    /// A corner of the simplex and the function value there.
    private struct Corner {
        var point: [Double]
        var cost: Double
    }

    let iterationsMax = 1000
    /// The search stops when the standard deviation of the corner costs is below this value.
    let tolerance: Double

    /// Searches for a minimum, starting at a point.
    ///
    /// - Parameter cost: the function. It may modify its argument, for example to clamp it; the
    ///   corner then moves to the modified point.
    /// - Returns: the best corner, and its cost from one more call of the function.
    func minimize<Failure: Error>(
        from start: [Double], _ cost: (inout [Double]) throws(Failure) -> Double
    ) throws(Failure) -> (cost: Double, point: [Double]) {
        var corners: [Corner] = []
        for point in SimplexMinimizer.simplex(around: start) {
            var point = point
            let cost = try cost(&point)
            corners.append(Corner(point: point, cost: cost))
        }
        for _ in 0..<iterationsMax {
            try step(&corners, cost)
            if deviation(corners) < tolerance { break }
        }
        var best = corners[SimplexMinimizer.best(corners)].point
        let point = best
        return (try cost(&best), point)
    }

    /// Returns a regular simplex with edge length 1 and one corner at `start`.
    private static func simplex(around start: [Double]) -> [[Double]] {
        let count = Double(start.count)
        let root = (count + 1).squareRoot()
        let along = (root - 1 + count) / (count * 2.0.squareRoot())
        let aside = (root - 1) / (count * 2.0.squareRoot())
        var points = [start]
        for corner in start.indices {
            points.append(start.indices.map { start[$0] + ($0 == corner ? along : aside) })
        }
        return points
    }

    /// Replaces the worst corner, or shrinks the simplex towards the best corner.
    private func step<Failure: Error>(
        _ corners: inout [Corner], _ cost: (inout [Double]) throws(Failure) -> Double
    ) throws(Failure) {
        let best = SimplexMinimizer.best(corners)
        let worst = SimplexMinimizer.worst(corners)
        let second = SimplexMinimizer.second(corners, best: best, worst: worst)
        let center = SimplexMinimizer.center(corners, without: worst)

        var mirrored = zip(center, corners[worst].point).map { $0 + ($0 - $1) }
        let mirroredCost = try cost(&mirrored)
        if mirroredCost < corners[best].cost {
            var stretched = zip(center, mirrored).map { $0 + 2 * ($1 - $0) }
            let stretchedCost = try cost(&stretched)
            corners[worst] =
                stretchedCost < mirroredCost
                ? Corner(point: stretched, cost: stretchedCost)
                : Corner(point: mirrored, cost: mirroredCost)
        } else if mirroredCost < corners[second].cost {
            corners[worst] = Corner(point: mirrored, cost: mirroredCost)
        }
        // Use the updated corners: if all costs are equal, worst and second are the same corner.
        guard mirroredCost >= corners[second].cost else { return }
        let isBetter = mirroredCost < corners[worst].cost
        var drawn =
            isBetter
            ? zip(center, mirrored).map { $0 + 0.5 * ($1 - $0) }
            : zip(center, corners[worst].point).map { $0 - 0.5 * ($0 - $1) }
        let drawnCost = try cost(&drawn)
        if drawnCost < corners[worst].cost {
            corners[worst] = Corner(point: drawn, cost: drawnCost)
            return
        }
        let target = corners[best].point
        for index in corners.indices where index != best {
            corners[index].point = zip(target, corners[index].point).map { $0 + ($1 - $0) / 2 }
        }
        // The other corners keep their old costs, as in the implementation that InfluxDB uses.
        corners[worst].cost = try cost(&corners[worst].point)
        corners[second].cost = try cost(&corners[second].point)
    }

    // MARK: Corners

    private static func best(_ corners: [Corner]) -> Int {
        corners.indices.reduce(0) { corners[$1].cost < corners[$0].cost ? $1 : $0 }
    }

    private static func worst(_ corners: [Corner]) -> Int {
        corners.indices.reduce(0) { corners[$1].cost > corners[$0].cost ? $1 : $0 }
    }

    /// Returns the second-worst corner, or the best one if all others are equally bad.
    private static func second(_ corners: [Corner], best: Int, worst: Int) -> Int {
        corners.indices.reduce(best) { found, index in
            let cost = corners[index].cost
            return cost > corners[found].cost && cost < corners[worst].cost ? index : found
        }
    }

    private static func center(_ corners: [Corner], without left: Int) -> [Double] {
        var center = Array(repeating: 0.0, count: corners[0].point.count)
        for index in corners.indices where index != left {
            for axis in center.indices { center[axis] += corners[index].point[axis] }
        }
        let count = Double(center.count)
        return center.map { $0 / count }
    }

    private func deviation(_ corners: [Corner]) -> Double {
        let count = Double(corners.count - 1)
        let mean = corners.reduce(0) { $0 + $1.cost } / (count + 1)
        return corners.reduce(0) { $0 + ($1.cost - mean) * ($1.cost - mean) / count }.squareRoot()
    }
}
