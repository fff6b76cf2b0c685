// Windows that overlap: their answers against those of loops over each window, and how many values
// and nodes are looked at as rows grow.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct SurveyWindowTests {
    private static let aggregates: [Aggregate] = [
        .sum, .mean, .median, .min, .max, .stddev, .spread, .mode, .percentile, .first, .last,
    ]

    private static var counters: ExecutionContext {
        ExecutionContext(QueryOptions(now: Timestamp(nanoseconds: 0)))
    }

    private func window(
        _ aggregate: Aggregate, _ parameter: Double, before: Int64, after: Int64
    ) -> SurveyWindow {
        SurveyWindow(
            function: .aggregate(aggregate), argument: 0, parameter: parameter, before: before,
            after: after, anchor: 0)
    }

    /// Values of few or many kinds at times that may be equal, on both sides of 1970.
    private func points(
        _ type: FieldType, _ count: Int, _ random: inout SeededRandom
    ) -> PointList {
        let kindCount = [1, 2, 40, count / 2, 1 << 40].randomElement(using: &random) ?? 2
        let gap = [0, 1, 10, 1 << 50].randomElement(using: &random) ?? 1
        var time = -Int64(count * gap / 2)
        var list = PointList()
        var builder = VectorBuilder(type: type)
        for _ in 0..<count {
            time += Int64.random(in: 0...Int64(gap), using: &random)
            list.times.append(time)
            let kind = Int.random(in: 0..<max(kindCount, 1), using: &random)
            switch type {
            case .float:
                let number = Double(kind - 3) * 0.1
                let special = [0.0, -0.0, .nan].randomElement(using: &random) ?? 0
                let isSpecial = Int.random(in: 0..<50, using: &random) == 0 && gap == 10
                builder.append(.float(isSpecial ? special : number))
            case .integer: builder.append(.integer(Int64(kind) &* 0x1234_5678_9ABC))
            case .boolean: builder.append(.boolean(kind % 2 == 1))
            case .string: builder.append(.string("value \(kind % 97)"))
            }
        }
        list.values = builder.finished()
        return list
    }

    /// What a window answers when it is the only one, read with nothing around it.
    private func alone(
        _ window: SurveyWindow, _ points: PointList, _ anchor: Int64
    ) throws -> FieldValue? {
        let rows = points.times.indices.filter {
            points.times[$0] > anchor.addingSaturating(-window.before)
                && points.times[$0] <= anchor.addingSaturating(window.after)
        }
        return try WindowValues(window: window, points: points.selected(rows))
            .values([anchor], Self.counters).value(0)
    }

    private func bits(_ value: FieldValue?) -> UInt64? {
        guard case .float(let number)? = value else { return nil }
        return number.isNaN ? Double.nan.bitPattern : (number + 0.0).bitPattern
    }

    @Test func `a window answers the same whatever other windows are asked`() throws {
        let seed = TestSeed.seed()
        print("windows seed \(seed)")
        var random = SeededRandom(seed: seed)
        for _ in 0..<12 {
            let type = FieldType.allCases.randomElement(using: &random) ?? .float
            let isNumber = type == .float || type == .integer
            let points = points(type, Int.random(in: 1...3000, using: &random), &random)
            let (first, last) = (points.times[0], points.times[points.count - 1])
            let width = Int64.random(in: 1...max(1, (last - first) / 3 * 2), using: &random)
            let anchors = (0..<60).map { _ in
                Int64.random(in: first...last, using: &random)
            }.sorted()
            for aggregate in Self.aggregates where isNumber || aggregate == .mode {
                let window = window(
                    aggregate, Double.random(in: 0...100, using: &random), before: width,
                    after: [0, width].randomElement(using: &random) ?? 0)
                let answers = try WindowValues(window: window, points: points)
                    .values(anchors, Self.counters)
                for (row, anchor) in anchors.enumerated() {
                    let (got, wanted) = (answers.value(row), try alone(window, points, anchor))
                    #expect(
                        got == wanted || (bits(got) != nil && bits(got) == bits(wanted)),
                        "seed \(seed): \(aggregate) of \(type) around \(anchor)")
                }
            }
        }
    }

    @Test func `sums, means and deviations of long windows are those of a loop`() throws {
        let seed = TestSeed.seed()
        print("windows seed \(seed)")
        var random = SeededRandom(seed: seed)
        var points = PointList()
        var builder = VectorBuilder(type: .float)
        var numbers: [Double] = []
        for row in 0..<6000 {
            points.times.append(Int64(row / 2))
            numbers.append(Double.random(in: -10...90, using: &random))
            builder.append(.float(numbers[row]))
        }
        points.values = builder.finished()
        let anchors = (0..<3000).map { Int64($0) }
        func answers(_ aggregate: Aggregate) throws -> [Double] {
            let answers = try WindowValues(
                window: window(aggregate, 0, before: 1000, after: 100), points: points
            ).values(anchors, Self.counters)
            return answers.bits.map { Double(bitPattern: $0) }
        }
        let (sums, means, deviations) = (
            try answers(.sum), try answers(.mean), try answers(.stddev)
        )
        for row in stride(from: 0, to: 3000, by: 7) {
            let values = numbers[max(0, 2 * (row - 999))..<min(6000, 2 * (row + 101))]
            let sum = values.reduce(0, +)
            let mean = sum / Double(values.count)
            let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            let deviation = (squares / Double(values.count - 1)).squareRoot()
            #expect(abs(sums[row] - sum) < 1e-6, "seed \(seed): sum at \(row)")
            #expect(abs(means[row] - mean) < 1e-9, "seed \(seed): mean at \(row)")
            #expect(abs(deviations[row] - deviation) < 1e-9, "seed \(seed): stddev at \(row)")
        }
    }

    private func steps(_ aggregate: Aggregate, _ count: Int, kindCount: Int) throws -> Int {
        var points = PointList()
        var builder = VectorBuilder(type: .float)
        for row in 0..<count {
            points.times.append(Int64(row))
            builder.append(.float(Double(row &* 7919 % kindCount)))
        }
        points.values = builder.finished()
        let counters = Self.counters
        let width = Int64(count / 2)
        _ = try WindowValues(
            window: window(aggregate, 50, before: width, after: width), points: points
        ).values(points.times, counters)
        return counters.windowSteps
    }

    @Test(arguments: [100, 1 << 20])
    func `cost grows as n log n with rows whose windows reach over half of all`(
        kindCount: Int
    ) throws {
        for aggregate in Self.aggregates where aggregate != .first && aggregate != .last {
            let steps = try [8192, 16384, 32768].map {
                try self.steps(aggregate, $0, kindCount: kindCount)
            }
            #expect(steps[0] > 0)
            for (less, more) in zip(steps, steps.dropFirst()) {
                #expect(
                    Double(more) <= 2.2 * Double(less), "\(aggregate): \(steps) steps")
            }
        }
    }

    @Test func `a mode among too many equally frequent values is refused`() throws {
        // Each value comes a second time before the next larger one came a second time.
        var points = PointList()
        var builder = VectorBuilder(type: .integer)
        for row in 0..<8000 {
            points.times.append(Int64(row))
            builder.append(.integer(Int64(row % 2 == 0 ? row / 2 : max(0, row / 2 - 3))))
        }
        points.values = builder.finished()
        let values = WindowValues(
            window: window(.mode, 0, before: 6000, after: 0), points: points)
        let error = #expect(throws: DatabaseError.self) {
            _ = try values.values(points.times, Self.counters)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("use a shorter window") == true)
    }
}
