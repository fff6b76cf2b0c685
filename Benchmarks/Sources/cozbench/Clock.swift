// Clocks, and statistics over measured times.

internal import Glibc

enum Clock {
    /// Seconds of the monotonic clock.
    static func now() -> Double { read(CLOCK_MONOTONIC) }

    /// CPU seconds of this process. Other programs do not add to them.
    static func processor() -> Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The times of repeated runs of one operation.
struct Durations {
    private var seconds: [Double] = []

    var count: Int { seconds.count }
    /// The first time, measured with cold caches.
    var first: Double { seconds.first ?? 0 }
    var least: Double { seconds.min() ?? 0 }
    var median: Double { part(0.5) }

    mutating func append(_ value: Double) { seconds.append(value) }

    mutating func append(contentsOf other: Durations) { seconds += other.seconds }

    /// The quantile of the times: 0.99 for the 99th percentile.
    func part(_ part: Double) -> Double {
        guard !seconds.isEmpty else { return 0 }
        let sorted = seconds.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}

/// Formats a number with about three significant digits.
func digits(_ value: Double) -> String {
    guard value.isFinite, value != 0 else { return "0" }
    let size = abs(value)
    if size >= 100 { return String(Int(value.rounded())) }
    let places = size >= 10 ? 10.0 : size >= 1 ? 100.0 : 1000.0
    return String((value * places).rounded() / places)
}
