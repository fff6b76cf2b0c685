// Text of times, time zones and their switches.

internal import Testing

@testable internal import CozDB

@Suite struct TimeTests {
    @Test(arguments: [
        ("2000-01-01T00:00:00Z", 946_684_800_000_000_000),
        ("2000-01-01", 946_684_800_000_000_000),
        ("2000-01-01 00:00:00", 946_684_800_000_000_000),
        ("2000-01-01T08:00:00+0800", 946_684_800_000_000_000),
        ("2000-01-01T08:00:00.000000001+08:00", 946_684_800_000_000_001),
        ("1969-12-31T23:59:59.5Z", -500_000_000),
        ("1677-09-21T00:12:43.145224194Z", Int64.min + 2),
        ("2262-04-11T23:47:16.854775806Z", Int64.max - 1),
    ])
    func `text becomes a time`(_ text: String, _ nanoseconds: Int64) {
        #expect(Timestamp(text)?.nanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", "2000", "2000-13-01", "2000-02-30", "2000-01-01T24:00:00Z", "2000-01-01T00:00:00.Z",
        "2000-01-01T00:00:00X", "2263-01-01", "1677-01-01", "2000-01-01T00:00:00.0123456789Z",
    ])
    func `what is no time is refused`(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `printing and reading give the same time`() {
        var state: UInt64 = 42
        for _ in 0..<10_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let time = Timestamp(
                nanoseconds: max(Int64.min + 2, min(Int64.max - 1, Int64(bitPattern: state))))
            #expect(Timestamp(time.text()) == time)
            #expect(Timestamp(time.text(offsetSeconds: 20_700, fractionDigits: .nine)) == time)
            #expect(Timestamp(time.text(offsetSeconds: -2_670)) == time)
            #expect(Timestamp(time.text(offsetSeconds: 24_925)) == time)
            #expect(Timestamp(time.text(offsetSeconds: 20)) == time)
        }
        #expect(Timestamp(nanoseconds: 1_500_000_000).text() == "1970-01-01T00:00:01.5Z")
        #expect(
            Timestamp(nanoseconds: 0).text(offsetSeconds: -18_000, fractionDigits: .nine)
                == "1969-12-31T19:00:00.000000000-05:00")
        #expect(Timestamp(nanoseconds: 100).text() == "1970-01-01T00:00:00.0000001Z")
        #expect(Timestamp(nanoseconds: -1).text() == "1969-12-31T23:59:59.999999999Z")
        #expect(Timestamp.min.text(offsetSeconds: .min).hasSuffix("-23:59"))
        #expect(Timestamp.max.text(offsetSeconds: .max).hasSuffix("+23:59"))
    }

    @Test func `zones know their switches, past and future`() throws {
        let zone = try TimeZoneRules(named: "Europe/Helsinki")
        func offset(_ text: String) -> Int { zone.offsetSeconds(at: Timestamp(text)!) }
        #expect(offset("2025-03-30T00:59:59Z") == 7200)
        #expect(offset("2025-03-30T01:00:00Z") == 10_800)
        #expect(offset("2025-10-26T00:59:59Z") == 10_800)
        #expect(offset("2025-10-26T01:00:00Z") == 7200)
        #expect(offset("2100-07-01T00:00:00Z") == 10_800)
        #expect(
            try TimeZoneRules(named: "Asia/Singapore").offsetSeconds(at: Timestamp("2025-01-01")!)
                == 28_800)
        #expect(throws: DatabaseError.self) { try TimeZoneRules(named: "../etc/passwd") }
        #expect(throws: DatabaseError.self) { try TimeZoneRules(named: "Nowhere/Land") }
        #expect(throws: DatabaseError.self) { try TimeZoneRules(named: "Europe/Helsinki\0x") }
    }

    @Test func `southern and negative summer times follow their rules`() throws {
        let sydney = try #require(PosixZoneRule("AEST-10AEDT,M10.1.0,M4.1.0/3"))
        #expect(sydney.offset(at: Timestamp("2025-01-01")!.nanoseconds / 1_000_000_000) == 39_600)
        #expect(sydney.offset(at: Timestamp("2025-07-01")!.nanoseconds / 1_000_000_000) == 36_000)
        let dublin = try #require(PosixZoneRule("IST-1GMT0,M10.5.0,M3.5.0/1"))
        #expect(dublin.offset(at: Timestamp("2025-01-01")!.nanoseconds / 1_000_000_000) == 0)
        #expect(dublin.offset(at: Timestamp("2025-07-01")!.nanoseconds / 1_000_000_000) == 3600)
        #expect(PosixZoneRule("<+0330>-3:30")?.standard == 12_600)
    }
}
