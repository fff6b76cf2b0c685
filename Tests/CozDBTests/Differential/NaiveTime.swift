// Bounds of time in WHERE, and the buckets of GROUP BY time. Zones come from Foundation.

@testable internal import CozDB

struct NaiveTimeBounds {
    let now: Int64
    let zone: String?
    var first: Int64?
    var last: Int64?

    init(now: Int64, zone: String?) {
        self.now = now
        self.zone = zone
    }

    /// Takes every comparison with `time` out; nil where nothing is left.
    mutating func split(_ expression: Expression) throws -> Expression? {
        switch expression {
        case .parenthesis(let inner): return try split(inner)
        case .binary(let symbol, let left, let right) where symbol == .and || symbol == .or:
            let left = try split(left)
            let right = try split(right)
            guard let left else { return right }
            guard let right else { return left }
            return .binary(symbol, left, right)
        case .binary(let symbol, .reference(let name), let value) where name.name == "time":
            try bound(symbol, try constant(value))
            return nil
        default: return expression
        }
    }

    private mutating func bound(_ symbol: Operator, _ time: Int64) throws {
        switch symbol {
        case .greater: first = max(first ?? time + 1, time + 1)
        case .greaterOrEqual: first = max(first ?? time, time)
        case .less: last = min(last ?? time - 1, time - 1)
        case .lessOrEqual: last = min(last ?? time, time)
        case .equal:
            first = max(first ?? time, time)
            last = min(last ?? time, time)
        default: throw NaiveUnsupported(what: "time \(symbol)")
        }
    }

    private func constant(_ expression: Expression) throws -> Int64 {
        switch expression {
        case .integer(let value), .duration(let value), .time(let value): return value
        case .parenthesis(let inner): return try constant(inner)
        case .call(let call) where call.name == "now": return now
        case .string(let text, _):
            guard let time = NaiveCalendar.nanoseconds(text, zone) else {
                throw NaiveUnsupported(what: text)
            }
            return time
        case .binary(.add, let left, let right): return try constant(left) + constant(right)
        case .binary(.subtract, let left, let right): return try constant(left) - constant(right)
        case .binary(.multiply, let left, let right): return try constant(left) * constant(right)
        default: throw NaiveUnsupported(what: "time \(expression)")
        }
    }
}

struct NaiveBuckets {
    var interval: Int64
    var offset: Int64 = 0
    var zone: NaiveZone?

    init?(_ dimensions: [Expression], zone: String?, now: Int64) throws {
        for case .call(let call) in dimensions {
            guard case .duration(let interval)? = call.arguments.first else {
                throw NaiveUnsupported(what: "\(call)")
            }
            self.interval = interval
            if call.arguments.count > 1 { offset = try Self.shift(call.arguments[1]) }
            if let zone { self.zone = NaiveZone(zone) }
            return
        }
        return nil
    }

    private static func shift(_ expression: Expression) throws -> Int64 {
        switch expression {
        case .duration(let value): value
        case .parenthesis(let inner): try shift(inner)
        case .binary(.multiply, .integer(let factor), .duration(let value)): factor * value
        default: throw NaiveUnsupported(what: "offset \(expression)")
        }
    }

    /// Buckets are aligned to 1970; of a zone, those longer than an hour to the local day.
    func start(_ time: Int64) -> Int64 {
        guard let zone, interval > 3_600_000_000_000 else { return floor(time) }
        let wall = floor(time + zone.offset(time))
        // The moment at which clocks show that time.
        return wall - zone.offset(wall - zone.offset(time))
    }

    func next(_ start: Int64) -> Int64 {
        // Past the end whatever the clocks do, but not past the end of the next one.
        let hour: Int64 = 3_600_000_000_000
        guard zone != nil, interval > hour else { return start + interval }
        return self.start(start + interval + hour + hour / 2)
    }

    private func floor(_ time: Int64) -> Int64 {
        var rest = (time - offset) % interval
        if rest < 0 { rest += interval }
        return time - rest
    }
}
