// What the naive executor takes from Foundation: expressions, calendars, zones. By itself because
// Foundation has an Expression of its own.

internal import Foundation

enum NaiveRegex {
    static func matches(_ pattern: String, _ text: String) -> Bool {
        guard let regex = try? NSRegularExpression(pattern: pattern) else { return false }
        let range = NSRange(location: 0, length: text.utf16.count)
        return regex.firstMatch(in: text, range: range) != nil
    }
}

enum NaiveCalendar {
    /// `2025-10-15`, `2025-10-15T02:25:21Z`; without `Z` in the zone of the statement.
    static func nanoseconds(_ text: String, _ zone: String?) -> Int64? {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        var calendar = Calendar(identifier: .gregorian)
        let name = text.hasSuffix("Z") ? "UTC" : zone ?? "UTC"
        guard numbers.count == 3 || numbers.count == 6, let found = TimeZone(identifier: name)
        else { return nil }
        calendar.timeZone = found
        let parts = DateComponents(
            year: numbers[0], month: numbers[1], day: numbers[2],
            hour: numbers.count > 3 ? numbers[3] : 0, minute: numbers.count > 3 ? numbers[4] : 0,
            second: numbers.count > 3 ? numbers[5] : 0)
        guard let date = calendar.date(from: parts) else { return nil }
        return Int64(date.timeIntervalSince1970.rounded()) * 1_000_000_000
    }
}

/// How far a zone's clocks are ahead.
struct NaiveZone {
    private let zone: TimeZone

    init?(_ name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    func offset(_ time: Int64) -> Int64 {
        let date = Date(timeIntervalSince1970: (Double(time) / 1e9).rounded(.down))
        return Int64(zone.secondsFromGMT(for: date)) * 1_000_000_000
    }
}
