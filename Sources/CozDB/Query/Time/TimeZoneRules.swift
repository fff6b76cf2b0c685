// Time zones from the system's tz database: TZif files (RFC 8536), whose POSIX rule covers the time
// after the last listed switch. A zone stores all its switches, so finding an offset is one binary
// search.

internal import CozPlatform

/// The UTC offsets of a time zone over time.
public final class TimeZoneRules: Sendable {
    /// The requested name, such as `Asia/Singapore`.
    public let name: String
    /// The start of each era in nanoseconds since 1970, ascending; the first is `Int64.min`. An era
    /// is a period with a constant offset. Adjacent eras have different offsets.
    private let starts: [Int64]
    /// The offset of each era, in nanoseconds ahead of UTC.
    private let shifts: [Int64]

    /// Loads a zone from `TZDIR` or from the system's zoneinfo directories. An empty name, `UTC`
    /// and `Local` mean UTC.
    ///
    /// - Throws: `usage` if the zone or the whole tz database is missing.
    public convenience init(named name: String) throws(DatabaseError) {
        if name.isEmpty || name == "UTC" || name == "Local" {
            self.init(name: "UTC", switches: [], offsets: [], firstOffset: 0, rule: nil)
            return
        }
        let parts = name.parts(separatedBy: "/")
        let isPlain =
            parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
            && !name.utf8.contains(0)
        let isDatabaseThere = TimeZoneRules.directories.contains { TimeZoneRules.exists($0) }
        var isFileThere = false
        for directory in TimeZoneRules.directories where isPlain {
            guard let bytes = TimeZoneRules.read(directory + "/" + name) else { continue }
            isFileThere = true
            if let parsed = TimeZoneFile(bytes) {
                self.init(
                    name: name, switches: parsed.switches, offsets: parsed.offsets,
                    firstOffset: parsed.firstOffset, rule: parsed.rule)
                return
            }
        }
        if isFileThere {
            throw DatabaseError(
                .usage,
                "unable to read time zone \(name): its file is not a zone file (RFC 8536), or has "
                    + "more than \(TimeZoneFile.switchCountMax) changes")
        }
        throw DatabaseError(
            .usage,
            isDatabaseThere
                ? "unable to find time zone \(name)"
                    + (name.contains("/") ? "" : "; expected a name such as Europe/Berlin")
                : "unable to find time zone \(name): the system's tz database is missing; install "
                    + "the package tzdata, or set TZDIR to its directory")
    }

    /// - Parameters:
    ///   - switches: seconds since 1970 at which the offsets start, ascending.
    ///   - firstOffset: seconds ahead of UTC before the first switch.
    ///   - rule: the rule that applies after the last switch.
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

    /// Returns the zone's offset at a time, in seconds east of UTC.
    public func offsetSeconds(at time: Timestamp) -> Int {
        Int(shifts[era(at: time.nanoseconds)] / 1_000_000_000)
    }

    /// Returns the zone's offset in seconds east of UTC at a time given in seconds since 1970.
    package func offsetSeconds(second: Int64) -> Int {
        Int(shifts[era(at: EraList.nanoseconds(second))] / 1_000_000_000)
    }

    /// Returns the time at which clocks of the zone show a civil time.
    ///
    /// If the civil time occurs twice because clocks went back, the result is the earlier time. If
    /// it was skipped, the old offset applies: if 2:00 becomes 3:00, 2:30 is read as 3:30.
    package func timestamp(of civil: CivilTime) -> Timestamp? {
        let local = civil.day * 86_400 + civil.seconds
        func time(_ era: Int) -> Int64 { EraList.nanoseconds(local) &- shifts[era] }
        // Near the ends of the time range there are no switches, but the arithmetic could overflow.
        guard civil.timestamp(offsetSeconds: 93_600) != nil,
            civil.timestamp(offsetSeconds: -93_600) != nil
        else {
            let shift = shifts[local < 0 ? 0 : eraCount - 1]
            return civil.timestamp(offsetSeconds: Int(shift / 1_000_000_000))
        }
        var era = era(at: EraList.nanoseconds(local - 93_600))
        while era + 1 < eraCount, time(era) >= starts[era + 1] {
            // The next era does not show it either: it was skipped.
            if time(era + 1) < starts[era + 1] { break }
            era += 1
        }
        return civil.timestamp(offsetSeconds: Int(shifts[era] / 1_000_000_000))
    }

    // MARK: Eras

    var eraCount: Int { starts.count }

    /// Returns the era that contains a time.
    func era(at nanoseconds: Int64) -> Int {
        starts.partitioningIndex { $0 > nanoseconds } - 1
    }

    /// Returns the first nanosecond of an era.
    func start(ofEra era: Int) -> Int64 { starts[era] }

    /// Returns the offset of an era in nanoseconds ahead of UTC.
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

    /// Reads a zone file. Zone files are a few kilobytes; a file over a megabyte is not one.
    private static func read(_ path: String) -> [UInt8]? {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size < 1 << 20
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        // A regular file this small comes in one call.
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        return count == bytes.count && count > 0 ? bytes : nil
    }
}

/// A builder for the eras of a zone.
private struct EraList {
    private(set) var starts: [Int64] = [.min]
    private(set) var shifts: [Int64]

    init(offset: Int) {
        shifts = [Int64(offset) * 1_000_000_000]
    }

    mutating func append(_ second: Int64, _ offset: Int) {
        let start = EraList.nanoseconds(second)
        let shift = Int64(offset) * 1_000_000_000
        // A switch may change only the name, or lie before the start of the time range.
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

/// The contents of a TZif file.
struct TimeZoneFile {
    /// The maximum number of switches. The tz database has at most some 300 in a file.
    static let switchCountMax = 2_000
    /// The largest distance from UTC in seconds (RFC 8536, section 3.2).
    private static let offsetMax = 93_599

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
        guard header.dataEnd(timeSize: timeSize) <= bytes.count, header.typeCount > 0,
            header.timeCount <= TimeZoneFile.switchCountMax
        else { return nil }
        let indexStart = header.dataStart + header.timeCount * timeSize
        let typeStart = indexStart + header.timeCount
        func offset(ofType type: Int) -> Int? {
            guard type < header.typeCount else { return nil }
            let offset = Int(
                Int32(truncatingIfNeeded: TimeZoneFile.number(bytes, typeStart + type * 6, 4)))
            return abs(offset) <= TimeZoneFile.offsetMax ? offset : nil
        }
        for index in 0..<header.timeCount {
            let time = TimeZoneFile.number(bytes, header.dataStart + index * timeSize, timeSize)
            guard let offset = offset(ofType: Int(bytes[indexStart + index])) else { return nil }
            switches.append(timeSize == 4 ? Int64(Int32(truncatingIfNeeded: time)) : time)
            offsets.append(offset)
        }
        guard let initial = offset(ofType: 0) else { return nil }
        firstOffset = initial
        if timeSize == 8 {
            let footer = bytes.dropFirst(header.dataEnd(timeSize: 8) + 1).prefix { $0 != 10 }
            rule = PosixZoneRule(String(decoding: footer, as: UTF8.self))
            let offsets = [rule?.standard ?? 0, rule?.dstOffset ?? 0]
            guard offsets.allSatisfy({ abs($0) <= TimeZoneFile.offsetMax }) else { return nil }
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
