// Writes times as RFC 3339 text or as integers, and reads the argument of `--now`.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct TimeText {
    enum Style {
        /// `2024-03-01T08:30:12.5Z`: only the necessary fraction digits, as InfluxDB prints it.
        case shortest
        /// `2024-03-01T08:30:12.500000000Z`: always nine fraction digits, so that all times are
        /// equally wide.
        case full
        /// Integers in units of this many nanoseconds since 1970.
        case epoch(nanosecondsPerUnit: Int64)
    }

    var style: Style

    var isNumber: Bool {
        if case .epoch = style { return true }
        return false
    }

    /// - Parameter offset: Seconds east of UTC; 0 prints Z.
    func append(_ nanoseconds: Int64, offset: Int = 0, to bytes: inout [UInt8]) {
        let time = Timestamp(nanoseconds: nanoseconds)
        switch style {
        case .epoch(let unit): bytes.append(contentsOf: String(nanoseconds / unit).utf8)
        case .shortest:
            time.appendText(to: &bytes, offsetSeconds: offset, fractionDigits: .needed)
        case .full:
            time.appendText(to: &bytes, offsetSeconds: offset, fractionDigits: .nine)
        }
    }

    func text(_ nanoseconds: Int64, offset: Int = 0) -> String {
        var bytes: [UInt8] = []
        append(nanoseconds, offset: offset, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The value of `--now`: RFC 3339, or nanoseconds since 1970.
struct ClockTime: ExpressibleByArgument {
    var time: Timestamp

    init?(argument: String) {
        if let nanoseconds = Int64(argument) {
            time = Timestamp(nanoseconds: nanoseconds)
        } else if let time = Timestamp(argument) {
            self.time = time
        } else {
            return nil
        }
    }
}
