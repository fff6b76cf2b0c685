// Computes the rows of one series with its series functions. The time bounds select the rows of the
// result; the functions also read earlier and later rows as far as they need.

internal import CozPlatform

struct SeriesExecution {
    /// The batch size for reading backwards before the range.
    private static let historyBatchRows = 64

    let plan: SelectPlan
    let input: InputSeries
    let context: ExecutionContext
    let share: MemoryReservation

    /// Returns the result rows by ascending time.
    func rows() throws(DatabaseError) -> RowBatch {
        let functions = plan.seriesFunctions
        let own = functions.filter { $0.function.window == nil }
        let windows = functions.compactMap { item in
            item.function.window.map { (index: item.index, window: $0) }
        }
        var batch = try main(own.map(\.function), windows.map(\.window))
        try share.grow(functions.count * 9 * batch.count)
        let historyShare = MemoryReservation(context.memory)
        defer { withExtendedLifetime(historyShare) {} }
        let history =
            own.isEmpty || batch.count == 0
            ? RowBatch() : try history(own.map(\.function), historyShare)
        for (index, function) in own {
            batch.references[index] = values(of: function, history, batch)
            try context.checkCancelled()
        }
        keepResultRows(&batch, own, windows.map(\.window))
        for (index, values) in try self.values(of: windows, batch.times) {
            batch.references[index] = values
        }
        return batch
    }

    // MARK: Rows of the range

    private func main(
        _ own: [SeriesFunction], _ windows: [SurveyWindow]
    ) throws(DatabaseError) -> RowBatch {
        var driving = Set(own.flatMap(\.arguments)).union(windows.map(\.anchor))
        if !own.contains(where: \.isVotes), windows.isEmpty {
            driving.formUnion(auxiliary.filter { !plan.isOfSeries($0) })
        }
        // A subquery's series cannot be read by time range.
        var reader = RowBatchReader(
            plan, input, driving: driving.sorted(), in: input.isStored ? plan.range : .all,
            descending: false, context: context)
        return try collected(&reader, share)
    }

    /// The references that columns read directly, without those that the series does not have.
    private var auxiliary: [Int] {
        guard let present = input.present else { return plan.auxiliary }
        return present.filter { plan.auxiliary.binaryContains($0) }
    }

    /// - Parameter isLast: whether a batch is the last one needed.
    private func collected(
        _ reader: inout RowBatchReader, _ share: MemoryReservation,
        until isLast: (RowBatch) -> Bool = { _ in false }
    ) throws(DatabaseError) -> RowBatch {
        var rows = SparseRows()
        var dimensions: [VectorBuilder] = []
        var batch = RowBatch()
        while try reader.next(into: &batch) {
            rows.add(batch, plan)
            if dimensions.isEmpty {
                dimensions = batch.dimensions.map { VectorBuilder(type: $0.type) }
            }
            for index in dimensions.indices { dimensions[index].append(batch.dimensions[index]) }
            try share.resize(to: dimensions.reduce(rows.sizeBytes) { $0 + $1.sizeBytes })
            if isLast(batch) { break }
        }
        return RowBatch(
            times: rows.times, references: rows.takeColumns(),
            dimensions: dimensions.map { $0.finished() })
    }

    /// Keeps the rows in the range; for windows only anchors, for votes only valid ones.
    private func keepResultRows(
        _ batch: inout RowBatch, _ own: [(index: Int, function: SeriesFunction)],
        _ windows: [SurveyWindow]
    ) {
        let votes = own.filter(\.function.isVotes).map { batch.references[$0.index].isPresent }
        let anchor = windows.first.map { batch.references[$0.anchor].isPresent }
        let kept = batch.times.indices.filter { row in
            if !plan.range.contains(batch.times[row]) { return false }
            if let anchor, !anchor[row] { return false }
            return votes.isEmpty || votes.contains { $0[row] }
        }
        if kept.count < batch.count { batch.keep(kept) }
    }

    // MARK: Rows before the range

    /// Returns the rows before the range that determine the functions' values at its start. Reads
    /// backwards and only the columns that the functions and the condition need.
    private func history(
        _ own: [SeriesFunction], _ share: MemoryReservation
    ) throws(DatabaseError) -> RowBatch {
        guard input.isStored, plan.range.lower > TimeRange.all.lower else { return RowBatch() }
        let driving = Set(own.flatMap(\.arguments))
        var needed = driving
        if let condition = input.condition { needed.formUnion(condition.referencesRead) }
        var reader = RowBatchReader(
            plan, input, driving: driving.sorted(), only: needed,
            in: TimeRange(lower: TimeRange.all.lower, upper: plan.range.lower), descending: true,
            batchRows: SeriesExecution.historyBatchRows, context: context)
        var searches = own.map { HistorySearch($0) }
        let batch = try collected(&reader, share) { batch in
            for index in searches.indices { searches[index].look(at: batch) }
            return searches.allSatisfy(\.isDone)
        }
        return RowBatch(
            times: batch.times.reversed(),
            references: batch.references.map(count: batch.count, \.reversed))
    }

    // MARK: Functions

    private func values(
        of function: SeriesFunction, _ history: RowBatch, _ batch: RowBatch
    ) -> ResultVector {
        let times = history.times + batch.times
        let arguments = function.arguments.map { index in
            guard history.count > 0 else { return batch.references[index] }
            var builder = VectorBuilder(type: plan.references[index].type)
            builder.append(history.references[index])
            builder.append(batch.references[index])
            return builder.finished()
        }
        let all: ResultVector
        switch function {
        case .previous: all = SeriesValues.previous(arguments[0])
        case .distance: all = SeriesValues.distance(arguments[0], arguments[1])
        case .validVotes(_, let gap):
            all = SeriesValues.validVotes(arguments[0], times: times, gap: gap)
        case .window: return .constant(nil, count: batch.count)
        }
        return history.count == 0 ? all : all.filtered(Array(history.count..<times.count))
    }

    /// Computes all windows; windows over the same field share its values.
    private func values(
        of windows: [(index: Int, window: SurveyWindow)], _ anchors: [Int64]
    ) throws(DatabaseError) -> [(index: Int, values: ResultVector)] {
        guard let first = anchors.first, let last = anchors.last else { return [] }
        var answers: [(index: Int, values: ResultVector)] = []
        let byArgument = Dictionary(grouping: windows, by: \.window.argument)
        for (argument, own) in byArgument.sorted(by: { $0.key < $1.key }) {
            let before = own.map(\.window.before).max() ?? 0
            let after = own.map(\.window.after).max() ?? 0
            let range = TimeRange(
                lower: first.addingSaturating(-before),
                upper: last.addingSaturating(after).addingSaturating(1))
            let points = try points(argument, in: range.intersection(.all))
            for (index, window) in own {
                let values = try WindowValues(window: window, points: points)
                    .values(anchors, context)
                answers.append((index, values))
            }
        }
        return answers
    }

    /// Returns all values of a reference in a range, ignoring WHERE.
    private func points(
        _ argument: Int, in range: TimeRange
    ) throws(DatabaseError) -> PointList {
        var unconditional = input
        unconditional.condition = nil
        var reader = RowBatchReader(
            plan, unconditional, driving: [argument], only: [argument], in: range,
            descending: false, context: context)
        var collector = PointCollector(
            type: plan.references[argument].type, auxiliaryTypes: [], range: range)
        let share = MemoryReservation(context.memory)
        var batch = RowBatch()
        while try reader.next(into: &batch) {
            collector.add(times: batch.times, batch.references[argument], [])
            try share.resize(to: collector.sizeBytes)
        }
        return try collector.finished(context)
    }
}

/// Determines how far back a function must read.
private struct HistorySearch {
    private let function: SeriesFunction
    private(set) var isDone = false
    /// The time of the earliest vote so far.
    private var vote: Int64?

    init(_ function: SeriesFunction) {
        self.function = function
    }

    /// - Parameter batch: rows by descending time, earlier than all previous ones.
    mutating func look(at batch: RowBatch) {
        guard !isDone else { return }
        let arguments = batch.references.columns(function.arguments)
        for row in batch.times.indices
        where arguments.allSatisfy({ $0.isPresent[row] }) {
            guard case .validVotes(_, let gap) = function else {
                isDone = true
                return
            }
            // A vote more than the gap after the previous one is always valid: stop here.
            let time = batch.times[row]
            if let vote, SeriesValues.isBeyond(gap, from: time, to: vote) {
                isDone = true
                return
            }
            vote = time
        }
    }
}

/// Series functions over all rows of a series by ascending time.
private enum SeriesValues {
    /// The mean radius of the Earth in meters (IUGG).
    private static let earthRadius = 6_371_008.8

    /// Checks for cancellation every few rows. The caller checks again.
    private static func isStopping(_ row: Int) -> Bool {
        row & 0xFFF == 0 && CancellationCheck.isRaised
    }

    static func isBeyond(_ gap: Int64, from earlier: Int64, to later: Int64) -> Bool {
        let (distance, isOver) = later.subtractingReportingOverflow(earlier)
        return isOver || distance > gap
    }

    static func previous(_ vector: ResultVector) -> ResultVector {
        var result = vector
        var last: Int?
        for row in 0..<vector.count {
            result.isPresent[row] = last != nil
            if let last { result.bits[row] = vector.bits[last] }
            if vector.isPresent[row] { last = row }
        }
        return result
    }

    static func validVotes(_ vector: ResultVector, times: [Int64], gap: Int64) -> ResultVector {
        var result = vector
        var kept: Int64?
        for row in 0..<vector.count where vector.isPresent[row] {
            if let last = kept, !isBeyond(gap, from: last, to: times[row]) {
                result.isPresent[row] = false
            } else {
                kept = times[row]
            }
        }
        return result
    }

    /// Returns great-circle distances by the haversine formula, accurate also for close points.
    static func distance(_ latitudes: ResultVector, _ longitudes: ResultVector) -> ResultVector {
        let (latitudes, longitudes) = (latitudes.cast(to: .float), longitudes.cast(to: .float))
        var result = ResultVector(
            type: .float, bits: Array(repeating: 0, count: latitudes.count),
            isPresent: Array(repeating: false, count: latitudes.count))
        func radians(_ vector: ResultVector, _ row: Int) -> Double {
            Double(bitPattern: vector.bits[row]) * .pi / 180
        }
        var last: (latitude: Double, longitude: Double)?
        for row in 0..<latitudes.count
        where !isStopping(row) && latitudes.isPresent[row] && longitudes.isPresent[row] {
            let place = (radians(latitudes, row), radians(longitudes, row))
            if let last {
                result.bits[row] = meters(last, place).bitPattern
                result.isPresent[row] = true
            }
            last = place
        }
        return result
    }

    private static func meters(
        _ from: (latitude: Double, longitude: Double), _ to: (latitude: Double, longitude: Double)
    ) -> Double {
        let north = sin((to.latitude - from.latitude) / 2)
        let east = sin((to.longitude - from.longitude) / 2)
        let part = north * north + cos(from.latitude) * cos(to.latitude) * east * east
        // Rounding may make this exceed 1 for antipodal points.
        return 2 * earthRadius * asin(min(1, part).squareRoot())
    }
}

extension SeriesFunction {
    fileprivate var window: SurveyWindow? {
        if case .window(let window) = self { window } else { nil }
    }

    fileprivate var isVotes: Bool {
        if case .validVotes = self { true } else { false }
    }
}

extension SelectPlan {
    /// Returns whether a reference is a series function.
    fileprivate func isOfSeries(_ reference: Int) -> Bool {
        if case .series? = references[reference].computation { true } else { false }
    }
}
