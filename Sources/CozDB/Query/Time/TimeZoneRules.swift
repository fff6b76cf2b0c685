// Time zones from the system's tz database: TZif files (RFC 8536) with the POSIX rule at their end
// that goes on after the last switch listed. A zone is kept as a list of all its switches up to
// the end of time, so that finding an offset is one search.

internal import Glibc

/// When a zone's clocks show which offset from UTC.
public final class TimeZoneRules: Sendable {
    /// The name it was asked for, such as `Asia/Singapore`.
    public let name: String
    /// When each era begins, in nanoseconds since 1970, ascending, the first at `Int64.min`. An
    /// era is a span in which clocks are not moved; neighbours have different shifts.
    private let starts: [Int64]
    /// By how many nanoseconds clocks are ahead of UTC in each era.
    private let shifts: [Int64]

    /// Reads the zone from `TZDIR`, or from where systems keep it.
    ///
    /// - Throws: `usage` where there is no such zone, or no tz database at all.
    public convenience init(named name: String) throws(DatabaseError) {
        if name.isEmpty || name == "UTC" || name == "Local" {
            self.init(name: "UTC", switches: [], offsets: [], firstOffset: 0, rule: nil)
            return
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        var isDatabaseThere = false
        for directory in TimeZoneRules.directories where isPlain {
            if TimeZoneRules.exists(directory) { isDatabaseThere = true }
            if let bytes = TimeZoneRules.read(directory + "/" + name),
                let parsed = TimeZoneFile(bytes)
            {
                self.init(
                    name: name, switches: parsed.switches, offsets: parsed.offsets,
                    firstOffset: parsed.firstOffset, rule: parsed.rule)
                return
            }
        }
        throw DatabaseError(
            .usage,
            isDatabaseThere
                ? "unable to find time zone \(name)"
                : "unable to find time zone \(name): the system's tz database is missing; install "
                    + "the package tzdata, or set TZDIR to its directory")
    }

    /// - Parameters:
    ///   - switches: seconds since 1970 at which the offsets begin, ascending.
    ///   - firstOffset: seconds ahead of UTC before the first of them.
    ///   - rule: what goes on after the last.
    init(
        name: String, switches: [Int64], offsets: [Int], firstOffset: Int, rule: PosixZoneRule?
    ) {
        self.name = name
        var eras = EraList(offset: switches.isEmpty ? rule?.standard ?? firstOffset : firstOffset)
        for (second, offset) in zip(switches, offsets) { eras.append(second, offset) }
        for (second, offset) in rule?.switches(after: switches.last) ?? [] {
            eras.append(second, offset)
        }
        (starts, shifts) = (eras.starts, eras.shifts)
    }

    /// Seconds east of UTC that clocks of the zone show at this time.
    public func offsetSeconds(at time: Timestamp) -> Int {
        Int(shifts[era(at: time.nanoseconds)] / 1_000_000_000)
    }

    /// By how many seconds clocks are ahead of UTC.
    package func offsetSeconds(second: Int64) -> Int {
        Int(shifts[era(at: EraList.nanoseconds(second))] / 1_000_000_000)
    }

    /// The point in time that clocks of the zone show so. Of a time that comes twice, because
    /// clocks were put back, it is the earlier; one that was skipped is read as if clocks had not
    /// yet been moved: half past two, where two o'clock became three, is half past three.
    package func timestamp(of civil: CivilTime) -> Timestamp? {
        let local = civil.day * 86_400 + civil.seconds
        func time(_ era: Int) -> Int64 { EraList.nanoseconds(local) &- shifts[era] }
        // Near the ends of time there are no switches, but times that cannot be told in Int64.
        guard civil.timestamp(offsetSeconds: 93_600) != nil,
            civil.timestamp(offsetSeconds: -93_600) != nil
        else {
            let shift = shifts[local < 0 ? 0 : eraCount - 1]
            return civil.timestamp(offsetSeconds: Int(shift / 1_000_000_000))
        }
        var era = era(at: EraList.nanoseconds(local - 93_600))
        while era + 1 < eraCount, time(era) >= starts[era + 1] {
            // Neither is it shown after the switch: it was skipped.
            if time(era + 1) < starts[era + 1] { break }
            era += 1
        }
        return civil.timestamp(offsetSeconds: Int(shifts[era] / 1_000_000_000))
    }

    // MARK: Eras

    var eraCount: Int { starts.count }

    /// The era in which a time lies.
    func era(at nanoseconds: Int64) -> Int {
        starts.partitioningIndex { $0 > nanoseconds } - 1
    }

    /// First nanosecond of an era.
    func start(ofEra era: Int) -> Int64 { starts[era] }

    /// By how many nanoseconds clocks are ahead of UTC in an era.
    func shift(ofEra era: Int) -> Int64 { shifts[era] }

    // MARK: Files

    private static var directories: [String] {
        var directories: [String] = []
        if let value = unsafe getenv("TZDIR"),
            let directory = unsafe String(validatingCString: value)
        {
            directories.append(directory)
        }
        return directories + [
            "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo",
        ]
    }

    private static func exists(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// Zone files are a few kilobytes; anything beyond a megabyte is none.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "rb") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        guard count > 0, count < bytes.count else { return nil }
        return Array(bytes.prefix(count))
    }
}

/// Eras on their way into the rules of a zone.
private struct EraList {
    private(set) var starts: [Int64] = [.min]
    private(set) var shifts: [Int64]

    init(offset: Int) {
        shifts = [Int64(offset) * 1_000_000_000]
    }

    mutating func append(_ second: Int64, _ offset: Int) {
        let start = EraList.nanoseconds(second)
        let shift = Int64(offset) * 1_000_000_000
        // Names and the flag of summer time change, too; and files begin before time does.
        if let last = starts.last, start <= last {
            shifts[shifts.count - 1] = shift
        } else if shift != shifts.last {
            starts.append(start)
            shifts.append(shift)
        }
    }

    static func nanoseconds(_ second: Int64) -> Int64 {
        let (product, isOver) = second.multipliedReportingOverflow(by: 1_000_000_000)
        return isOver ? (second < 0 ? .min : .max) : product
    }
}

/// The parts of a TZif file.
struct TimeZoneFile {
    private(set) var switches: [Int64] = []
    private(set) var offsets: [Int] = []
    private(set) var firstOffset = 0
    private(set) var rule: PosixZoneRule?

    init?(_ bytes: [UInt8]) {
        guard let first = Header(bytes, at: 0) else { return nil }
        var header = first
        var timeSize = 4
        if first.version >= 2 {
            guard let second = Header(bytes, at: first.dataEnd(timeSize: 4)) else { return nil }
            header = second
            timeSize = 8
        }
        guard header.dataEnd(timeSize: timeSize) <= bytes.count, header.typeCount > 0 else {
            return nil
        }
        let indexStart = header.dataStart + header.timeCount * timeSize
        let typeStart = indexStart + header.timeCount
        func offset(ofType type: Int) -> Int? {
            guard type < header.typeCount else { return nil }
            return Int(
                Int32(truncatingIfNeeded: TimeZoneFile.number(bytes, typeStart + type * 6, 4)))
        }
        for index in 0..<header.timeCount {
            let time = TimeZoneFile.number(bytes, header.dataStart + index * timeSize, timeSize)
            guard let offset = offset(ofType: Int(bytes[indexStart + index])) else { return nil }
            switches.append(timeSize == 4 ? Int64(Int32(truncatingIfNeeded: time)) : time)
            offsets.append(offset)
        }
        firstOffset = offset(ofType: 0) ?? 0
        if timeSize == 8 {
            let footer = bytes.dropFirst(header.dataEnd(timeSize: 8) + 1).prefix { $0 != 10 }
            rule = PosixZoneRule(String(decoding: footer, as: UTF8.self))
        }
    }

    private struct Header {
        let version: Int
        let dataStart: Int
        let timeCount: Int
        let typeCount: Int
        private let otherSize: (indicatorCount: Int, leapCount: Int, abbreviationSize: Int)

        init?(_ bytes: [UInt8], at start: Int) {
            guard start + 44 <= bytes.count, Array(bytes[start..<(start + 4)]) == Array("TZif".utf8)
            else { return nil }
            let counts = (0..<6).map { Int(TimeZoneFile.number(bytes, start + 20 + $0 * 4, 4)) }
            guard counts.allSatisfy({ $0 >= 0 && $0 < 1 << 20 }) else { return nil }
            version = bytes[start + 4] == 0 ? 1 : Int(bytes[start + 4]) - 48
            dataStart = start + 44
            timeCount = counts[3]
            typeCount = counts[4]
            otherSize = (counts[0] + counts[1], counts[2], counts[5])
        }

        func dataEnd(timeSize: Int) -> Int {
            dataStart + timeCount * (timeSize + 1) + typeCount * 6 + otherSize.abbreviationSize
                + otherSize.leapCount * (timeSize + 4) + otherSize.indicatorCount
        }
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int64 {
        var value: UInt64 = 0
        for byte in bytes[start..<(start + size)] { value = value << 8 | UInt64(byte) }
        return Int64(bitPattern: value)
    }
}
