// Days of the calendar: their text, their order, and where they begin.

internal import CozDB
internal import CozStudy
internal import Foundation
internal import Testing

struct LocalDayTests {
    @Test func `a day is read and written`() throws {
        for text in ["1970-01-01", "1969-12-31", "2024-02-29", "1677-09-22", "2262-04-11"] {
            #expect(LocalDay(text)?.description == text)
        }
        #expect(LocalDay("1970-01-02")?.number == 1)
        #expect(LocalDay("1969-12-31")?.number == -1)
        for text in ["2024-02-30", "2024-3-01", "2024-03-01T", "", "2024-03-0x", "20240301"] {
            #expect(LocalDay(text) == nil, "\(text)")
        }
    }

    @Test func `days of the week are those of ISO 8601`() throws {
        #expect(try #require(LocalDay("2024-03-04")).dayOfWeek == 1)
        #expect(try #require(LocalDay("2024-03-10")).dayOfWeek == 7)
        #expect(try #require(LocalDay("1969-12-29")).dayOfWeek == 1)
    }

    @Test(arguments: NaiveStudy.zones.map(\.name) + ["Pacific/Apia", "Asia/Kathmandu"])
    func `a day begins where Foundation says it does`(zone: String) throws {
        let days = LocalCalendar(zone: try TimeZoneRules(named: zone))
        var calendar = Foundation.Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        // Around the day that Apia skipped, and the switches of the other zones.
        for first in ["2011-12-27", "2023-09-28", "2024-03-28", "2024-10-25"] {
            let start = try #require(LocalDay(first))
            for day in start...start.advanced(by: 12) {
                let begin = days.start(of: day)
                guard days.day(of: begin) == day else {
                    // A day that clocks skip begins where the next one does.
                    #expect(zone == "Pacific/Apia" && day.description == "2011-12-30")
                    #expect(begin == days.start(of: day.advanced(by: 1)))
                    continue
                }
                let date = Date(timeIntervalSince1970: Double(begin.nanoseconds) / 1e9)
                #expect(calendar.startOfDay(for: date) == date, "\(zone) \(day)")
                let before = Timestamp(nanoseconds: begin.nanoseconds - 1)
                #expect(days.day(of: before) < day, "\(zone) \(day)")
            }
        }
    }

    @Test func `the ends of time have days`() throws {
        for zone in ["UTC", "Pacific/Kiritimati", "Pacific/Niue"] {
            let days = LocalCalendar(zone: try TimeZoneRules(named: zone))
            for time in [Timestamp.min, .max] {
                let day = days.day(of: time)
                #expect(days.start(of: day) <= time || day.number < 0)
                #expect(days.start(of: day.advanced(by: 2)) >= days.start(of: day))
                #expect(day.description.count == 10)
            }
        }
        #expect(days(Int.max / 2).count == 10)
    }

    private func days(_ number: Int) -> String { LocalDay(number: number).description }
}
