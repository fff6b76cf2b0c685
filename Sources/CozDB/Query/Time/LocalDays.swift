// Local days in a time zone, with the boundaries of `GROUP BY time(1d) tz(...)` and of dates in
// WHERE.

extension TimeZoneRules {
    /// Returns the first moment of a local day.
    ///
    /// That is local midnight: the earlier one if midnight occurs twice, or the first moment after
    /// the gap if clocks skip it. A day that the zone skipped entirely starts with the following
    /// day. Days outside the range of `Timestamp` start at the nearest end of that range.
    public func start(of day: LocalDate) -> Timestamp {
        timestamp(of: CivilTime(midnightOf: Int64(day.dayNumber)))
            ?? (day.dayNumber < 0 ? .min : .max)
    }

    /// Returns the local day that contains a time: the last day that starts at or before it.
    public func date(at time: Timestamp) -> LocalDate {
        // Work in seconds: nanoseconds plus an offset could overflow.
        let seconds = CivilTime.floorDivide(time.nanoseconds, 1_000_000_000)
        let local = seconds + Int64(offsetSeconds(at: time))
        var day = LocalDate(dayNumber: Int(CivilTime.floorDivide(local, 86_400)))
        // When clocks go back across midnight, they show the previous day a second time.
        while start(of: day) > time, start(of: day) > .min { day = day.advanced(by: -1) }
        while start(of: day.advanced(by: 1)) <= time, start(of: day.advanced(by: 1)) < .max {
            day = day.advanced(by: 1)
        }
        return day
    }

    /// Returns the time as RFC 3339 text with the zone's offset at that time.
    public func text(_ time: Timestamp, fractionDigits: FractionDigits = .needed) -> String {
        time.text(offsetSeconds: offsetSeconds(at: time), fractionDigits: fractionDigits)
    }
}
