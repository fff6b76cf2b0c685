// Times of the system clock.

internal import Glibc
internal import Testing

@testable internal import CozDB

struct TimestampTests {
    @Test(
        "a clock out of range gives the first or the last time that can be written",
        arguments: [
            (Int.max, 999_999_999, Timestamp.max), (9_223_372_037, 0, .max),
            (9_223_372_036, 854_775_807, .max), (9_223_372_036, 854_775_808, .max),
            (9_223_372_036, 854_775_805, Timestamp(nanoseconds: .max - 2)),
            (1, 5, Timestamp(nanoseconds: 1_000_000_005)), (0, 0, Timestamp(nanoseconds: 0)),
            (-1, 999_999_999, Timestamp(nanoseconds: -1)), (-9_223_372_037, 145_224_191, .min),
            (-9_223_372_038, 0, .min), (Int.min, 0, .min),
        ])
    func clamping(_ seconds: Int, _ nanoseconds: Int, _ expected: Timestamp) {
        #expect(Timestamp(clamping: timespec(tv_sec: seconds, tv_nsec: nanoseconds)) == expected)
    }

    @Test("the current time is between two readings of the clock")
    func now() {
        let first = Timestamp.now
        let second = Timestamp.now
        #expect(first <= second)
        #expect(second.nanoseconds / 1_000_000_000 - Int64(time(nil)) <= 1)
    }

    @Test(
        "seconds become times, rounded to the microsecond",
        arguments: [
            (0, 0), (-0.0, 0), (1_709_280_000.123, 1_709_280_000_123_000_000),
            (1_709_280_000.123_456_7, 1_709_280_000_123_457_000), (-1.5, -1_500_000_000),
            (1e-7, 0), (9_223_372_036.854_77, 9_223_372_036_854_770_000), (9_223_372_037, nil),
            (-9_223_372_037, nil), (1e300, nil), (.infinity, nil), (-.infinity, nil), (.nan, nil),
        ] as [(Double, Int64?)])
    func seconds(_ seconds: Double, _ nanoseconds: Int64?) {
        let time = Timestamp(secondsSince1970: seconds)
        #expect(time?.nanoseconds == nanoseconds)
        if let time { #expect(abs(time.secondsSince1970 - seconds) < 1e-6) }
    }

    @Test("a time of milliseconds survives as seconds")
    func millisecondsAsSeconds() {
        for millisecond in stride(from: Int64(0), to: 4_000_000_000_000, by: 98_765_432_101) {
            let time = Timestamp(nanoseconds: millisecond * 1_000_000)
            #expect(Timestamp(secondsSince1970: time.secondsSince1970) == time)
        }
    }

    @Test("arithmetic stays in the range of times")
    func arithmetic() {
        let noon = Timestamp("2024-03-01T12:00:00Z") ?? .min
        #expect((noon + .seconds(90)).text() == "2024-03-01T12:01:30Z")
        #expect((noon - .milliseconds(1)).text() == "2024-03-01T11:59:59.999Z")
        #expect(noon + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999) == noon)
        #expect(noon - (noon - .nanoseconds(7)) == .nanoseconds(7))
        #expect((noon - .nanoseconds(7)) - noon == .nanoseconds(-7))
        #expect(Timestamp.max + .nanoseconds(1) == .max)
        #expect(Timestamp.min - .seconds(Int64.max) == .min)
        // Durations can be longer than what their `components` hold.
        #expect(noon + .seconds(Int64.max) * 10 == .max)
        #expect(noon - .seconds(Int64.max) * 10 == .min)
        #expect(.min + (Timestamp.max - .min) == Timestamp.max)
        let widest = Timestamp(nanoseconds: .max) - Timestamp(nanoseconds: .min)
        #expect(widest == .seconds(18_446_744_073) + .nanoseconds(709_551_615))
    }
}
