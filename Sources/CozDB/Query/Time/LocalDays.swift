// When days begin in a zone: the same moments at which `GROUP BY time(1d) tz(...)` begins buckets,
// and which WHERE means by `time >= '2025-10-15'`.

extension TimeZoneRules {
    /// The first moment of a day: local midnight, the first of two where it comes twice, the
    /// first moment after it where clocks skipped it. A day that a zone skipped whole begins with
    /// the day after. Days beyond the range of `Timestamp` begin at its ends.
    public func start(of day: LocalDate) -> Timestamp {
        timestamp(of: CivilTime(midnightOf: Int64(day.dayNumber)))
            ?? (day.dayNumber < 0 ? .min : .max)
    }

    /// The day in which a time lies: the last one that does not begin later.
    public func date(at time: Timestamp) -> LocalDate {
        // Seconds first: nanoseconds plus an offset could overflow.
        let seconds = CivilTime.floorDivide(time.nanoseconds, 1_000_000_000)
        let local = seconds + Int64(offsetSeconds(at: time))
        var day = LocalDate(dayNumber: Int(CivilTime.floorDivide(local, 86_400)))
        // Clocks that are put back over midnight show the day before once more.
        while start(of: day) > time, start(of: day) > .min { day = day.advanced(by: -1) }
        while start(of: day.advanced(by: 1)) <= time, start(of: day.advanced(by: 1)) < .max {
            day = day.advanced(by: 1)
        }
        return day
    }

    /// RFC 3339 text with the offset that clocks show then.
    public func text(_ time: Timestamp, fractionDigits: FractionDigits = .needed) -> String {
        time.text(offsetSeconds: offsetSeconds(at: time), fractionDigits: fractionDigits)
    }
}
