// Days of the calendar and their begins: as buckets of a day begin, in every zone.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct LocalDaysTests {
    @Test func `dates are read and printed, and nothing else is read`() {
        for text in ["1970-01-01", "2024-02-29", "0000-01-01", "9999-12-31", "1677-09-21"] {
            #expect(LocalDate(text)?.description == text)
        }
        for text in [
            "", "2024-02-30", "2023-02-29", "2024-2-3", "24-02-03", "2024-02-03T00:00:00Z",
            "2024-02-03Z", "2024-13-01", "2024-00-01", " 2024-02-03", "2024-02-0٣",
        ] {
            #expect(LocalDate(text) == nil, "\(text)")
        }
        #expect(LocalDate("1970-01-02")?.dayNumber == 1)
        #expect(LocalDate("1969-12-31")?.dayNumber == -1)
        #expect(LocalDate("2024-02-28").map { "\($0.advanced(by: 2))" } == "2024-03-01")
    }

    @Test func `days beyond the calendar are its ends`() {
        #expect(LocalDate(dayNumber: .max).description == "9999-12-31")
        #expect(LocalDate(dayNumber: .min).description == "0000-01-01")
        #expect(LocalDate(dayNumber: 5).advanced(by: .max).description == "9999-12-31")
        #expect(LocalDate(dayNumber: -5).advanced(by: .min).description == "0000-01-01")
    }

    @Test func `days begin where buckets do, in every zone, around every switch`() throws {
        for name in SystemZones.all {
            let zone = try TimeZoneRules(named: name)
            let buckets = TimeBuckets(interval: 86_400_000_000_000, zone: zone)
            for time in SystemZones.switches(zone) {
                let day = zone.date(at: Timestamp(nanoseconds: time))
                for near in -1...1 {
                    let date = day.advanced(by: near)
                    let (start, next) = (zone.start(of: date), zone.start(of: date.advanced(by: 1)))
                    #expect(start <= next, "\(name) \(date)")
                    if start == next { continue }
                    let bounds = buckets.bounds(start.nanoseconds)
                    #expect(bounds.start == start.nanoseconds, "\(name) \(date)")
                    #expect(bounds.end == next.nanoseconds, "\(name) \(date)")
                    #expect(zone.date(at: start) == date, "\(name) \(date)")
                    let last = Timestamp(nanoseconds: next.nanoseconds - 1)
                    #expect(zone.date(at: last) == date, "\(name) \(date)")
                }
            }
        }
    }

    @Test(arguments: [
        ("Pacific/Apia", "2011-12-30"), ("Pacific/Kwajalein", "1993-08-21"),
    ])
    func `a day that was skipped is empty`(zone: String, day: String) throws {
        let zone = try TimeZoneRules(named: zone)
        let date = try #require(LocalDate(day))
        let start = zone.start(of: date)
        #expect(start == zone.start(of: date.advanced(by: 1)))
        #expect(zone.date(at: start) == date.advanced(by: 1))
        #expect(
            zone.date(at: Timestamp(nanoseconds: start.nanoseconds - 1)) == date.advanced(by: -1))
    }

    @Test func `days begin where WHERE says, also where midnight is skipped or comes twice`() throws
    {
        // Clocks went from 0:00 to 1:00 in Beirut, from 1:00 to 0:00 in Havana, and from 0:01 to
        // 23:01 the day before in St. John's.
        for (name, day, start) in [
            ("Asia/Beirut", "2022-03-27", "2022-03-27T01:00:00+03:00"),
            ("America/Havana", "2022-11-06", "2022-11-06T00:00:00-04:00"),
            ("America/St_Johns", "2010-11-07", "2010-11-07T00:00:00-02:30"),
        ] {
            let zone = try TimeZoneRules(named: name)
            let begin = zone.start(of: try #require(LocalDate(day)))
            #expect(begin == Timestamp(start), "\(name)")
            #expect(zone.date(at: begin).description == day)
            let later = Timestamp(nanoseconds: begin.nanoseconds + 600_000_000_000)
            #expect(zone.date(at: later).description == day, "\(name)")
        }
    }

    @Test func `the ends of time have a day`() throws {
        for name in ["UTC", "Pacific/Kiritimati", "America/New_York"] {
            let zone = try TimeZoneRules(named: name)
            for time in [Timestamp.min, .max, Timestamp(nanoseconds: .min)] {
                let year = zone.date(at: time).description.prefix(4)
                #expect(["1677", "2262"].contains(year), "\(name)")
            }
            #expect(zone.start(of: LocalDate(dayNumber: .max)) == .max)
            #expect(zone.start(of: LocalDate(dayNumber: .min)) == .min)
        }
    }
}
