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
