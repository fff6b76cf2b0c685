// Local time in every zone of the system's tz database, around every switch of the clocks from
// 2015 to 2027: switches as `zdump` tells them, buckets, and what clocks show.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB

/// The zones of this system.
enum SystemZones {
    static let directory = "/usr/share/zoneinfo"

    /// A name for each set of rules; empty where the system has no tz database.
    static let all: [String] = {
        guard let walk = FileManager.default.enumerator(atPath: directory) else { return [] }
        var names: [String] = []
        var seen: Set<Data> = []
        for case let name as String in walk {
            if name.hasPrefix("posix") || name.hasPrefix("right") { continue }
            let url = URL(fileURLWithPath: directory).appendingPathComponent(name)
            guard let bytes = try? Data(contentsOf: url), bytes.starts(with: Data("TZif".utf8)),
                seen.insert(bytes).inserted
            else { continue }
            names.append(name)
        }
        return names.sorted()
    }()

    static let first = Timestamp("2015-01-01")?.nanoseconds ?? 0
    static let last = Timestamp("2027-12-31")?.nanoseconds ?? 0

    /// The switches of a zone, found by looking at offsets hour by hour where they differ.
    static func switches(_ zone: TimeZoneRules) -> [Int64] {
        func offset(_ time: Int64) -> Int {
            zone.offsetSeconds(at: Timestamp(nanoseconds: time))
        }
        var found: [Int64] = []
        let step = 5 * hour * 24
        for start in stride(from: first, to: last, by: Int64.Stride(step)) {
            var lower = start
            while offset(lower) != offset(start + step) {
                var upper = start + step
                // The first moment at which the offset is another.
                var low = lower
                while upper - low > second {
                    let middle = low + (upper - low) / 2 / second * second
                    if offset(middle) == offset(lower) { low = middle } else { upper = middle }
                }
                found.append(upper)
                lower = upper
            }
        }
        return found
    }

    static let second: Int64 = 1_000_000_000
    static let hour: Int64 = 3600 * second
    static let day: Int64 = 24 * hour
}

@Suite struct ZoneSwitchTests {
    private static let second = SystemZones.second
    private static let hour = SystemZones.hour
    private static let day = SystemZones.day

    private var isReady: Bool {
        if SystemZones.all.isEmpty { print("no tz database: zones are not tested") }
        return !SystemZones.all.isEmpty
    }

    private func local(_ time: Int64, _ zone: TimeZoneRules) -> Int64 {
        time + Int64(zone.offsetSeconds(at: Timestamp(nanoseconds: time))) * Self.second
    }

    // MARK: Files

    /// A TZif file of version 1 whose offsets take turns.
    private func file(switches: [Int32], offsets: [Int32]) -> [UInt8] {
        func bytes(_ number: Int32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        var file = Array("TZif".utf8) + Array(repeating: 0, count: 16)
        let counts = [0, 0, 0, Int32(switches.count), Int32(offsets.count), 4]
        for count in counts { file += bytes(count) }
        for second in switches { file += bytes(second) }
        for index in switches.indices { file.append(UInt8(index % offsets.count)) }
        for offset in offsets { file += bytes(offset) + [0, 0] }
        return file + Array("ABC\0".utf8)
    }

    @Test func `a file with too many switches or an impossible offset is no zone`() {
        #expect(TimeZoneFile(file(switches: [], offsets: [93_599])) != nil)
        for offset in [93_600, -93_600, .max, .min] as [Int32] {
            #expect(TimeZoneFile(file(switches: [], offsets: [offset])) == nil)
            #expect(TimeZoneFile(file(switches: [0, 1], offsets: [0, offset])) == nil)
        }
        for count in [2_000, 2_001, 190_000] {
            let read = TimeZoneFile(file(switches: Array(0..<Int32(count)), offsets: [0, 1]))
            #expect((read != nil) == (count == 2_000))
        }
    }

    @Test func `buckets of a zone with a switch every second partition time`() throws {
        let file = try #require(
            TimeZoneFile(file(switches: Array(0..<2_000), offsets: [0, 1, -3_600, 93_599])))
        let zone = TimeZoneRules(
            name: "E/v", switches: file.switches, offsets: file.offsets, firstOffset: 0, rule: nil)
        for interval in [Self.second, Self.hour, 2 * Self.day] {
            let buckets = TimeBuckets(interval: interval, zone: zone)
            let starts = try buckets.starts(
                first: -Self.day, last: Self.day, countMax: 1_000_000)
            #expect(starts == starts.sorted() && Set(starts).count == starts.count)
            for time in stride(from: 0, to: 2_000 * Self.second, by: Int(77 * Self.second)) {
                let (start, end) = buckets.bounds(Int64(time))
                #expect(start <= time && time < end)
            }
        }
    }

    // MARK: An independent source

    @Test func `offsets are those that zdump tells`() throws {
        let zdump = "/usr/bin/zdump"
        guard isReady, FileManager.default.isExecutableFile(atPath: zdump) else {
            print("no zdump: offsets are not compared")
            return
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: zdump)
        process.arguments = ["-v", "-c", "2015,2028"] + SystemZones.all
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov"]
        var zones: [Substring: TimeZoneRules] = [:]
        var compared = 0
        for line in text.split(separator: "\n") {
            // Name, weekday, month, day, time, year, UT, =, local time of six words, gmtoff=N
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 14, let gmtoff = words.last, gmtoff.hasPrefix("gmtoff="),
                let offset = Int(gmtoff.dropFirst(7)), let dayOfMonth = Int64(words[3]),
                let year = Int64(words[5]), (2015...2027).contains(year)
            else { continue }
            let month = Int64(months.firstIndex { $0 == words[2] } ?? 11) + 1
            let clock = words[4].split(separator: ":").compactMap { Int64($0) }
            let seconds =
                CivilTime.day(year: year, month: month, day: dayOfMonth) * 86_400
                + clock[0] * 3600 + clock[1] * 60 + clock[2]
            let known = zones[words[0]]
            let zone = try known ?? TimeZoneRules(named: String(words[0]))
            zones[words[0]] = zone
            compared += 1
            let own = zone.offsetSeconds(second: seconds)
            if own != offset { Issue.record("\(line): \(own)") }
        }
        #expect(compared > 2000)
    }

    // MARK: Buckets

    /// What of the rules of buckets does not hold around a switch; nil if all do.
    private func fault(
        _ buckets: TimeBuckets, _ zone: TimeZoneRules, from first: Int64, to last: Int64,
        isWhole: Bool
    ) -> String? {
        var (start, end) = buckets.bounds(first)
        guard start <= first else { return "begins behind its time" }
        while start < last {
            guard end > start else { return "\(start): a bucket without time" }
            for time in [start, start + (end - start) / 3, end - 1]
            where buckets.bounds(time) != (start, end) {
                return "\(start): \(time) lies in \(buckets.bounds(time))"
            }
            if isWhole, let fault = hourFault(start, end, buckets.interval, zone) { return fault }
            if buckets.interval == Self.day, let fault = dayFault(start, buckets, zone) {
                return fault
            }
            let next = buckets.bounds(end)
            guard next.start == end else { return "\(end): a hole or overlap to \(next.start)" }
            (start, end) = next
        }
        return nil
    }

    /// A bucket of up to an hour shows one hour.
    private func hourFault(
        _ start: Int64, _ end: Int64, _ interval: Int64, _ zone: TimeZoneRules
    ) -> String? {
        let hours = [start, start + (end - start) / 2, end - 1].map {
            CivilTime.floorDivide(local($0, zone), interval)
        }
        return Set(hours).count == 1 ? nil : "\(start): a bucket of two hours, \(hours)"
    }

    /// A day begins when clocks show its begin for the first time, or skip it.
    private func dayFault(
        _ start: Int64, _ buckets: TimeBuckets, _ zone: TimeZoneRules
    ) -> String? {
        let shown = local(start, zone) - buckets.offset
        let before = local(start - 1, zone) - buckets.offset
        if shown % Self.day == 0 { return nil }
        let isSkipped =
            CivilTime.floorDivide(shown, Self.day) > CivilTime.floorDivide(before, Self.day)
        return isSkipped && local(start, zone) - local(start - 1, zone) > 1
            ? nil : "\(start): a day begins at \(shown)"
    }

    @Test(arguments: [
        "UTC", "Asia/Singapore", "Pacific/Kiritimati", "America/New_York", "Pacific/Pago_Pago",
    ])
    func `buckets partition the first and the last days of time`(name: String) throws {
        guard isReady else { return }
        let zone = try TimeZoneRules(named: name)
        let least = Timestamp.min.nanoseconds
        let most = Timestamp.max.nanoseconds
        for interval in [Self.hour, Self.day, 7 * Self.day] {
            let buckets = TimeBuckets(interval: interval, zone: zone)
            for (first, last) in [(least, least + 20 * Self.day), (most - 20 * Self.day, most)] {
                var time = first
                var count = 0
                while time <= last, count < 1000 {
                    let (start, end) = buckets.bounds(time)
                    #expect(start <= time && time < end, "\(interval): \(time) in \(start)")
                    #expect(count == 0 || start == time, "\(interval): \(time) in \(start)")
                    time = end
                    count += 1
                }
                #expect(count <= Int(20 * Self.day / interval) + 2)
            }
        }
    }

    @Test func `buckets partition time around every switch of every zone`() throws {
        guard isReady else { return }
        var switchCount = 0
        for name in SystemZones.all {
            let zone = try TimeZoneRules(named: name)
            for moment in SystemZones.switches(zone) {
                switchCount += 1
                for (interval, offset) in [
                    (Self.hour / 4, Int64(0)), (Self.hour, 0), (3 * Self.hour, 0),
                    (Self.day, 0), (Self.day, 12 * Self.hour), (7 * Self.day, 0),
                ] {
                    let buckets = TimeBuckets(interval: interval, offset: offset, zone: zone)
                    let span = max(interval, 2 * Self.hour)
                    let fault = fault(
                        buckets, zone, from: moment - span, to: moment + span,
                        isWhole: interval <= Self.hour)
                    if let fault { Issue.record("\(name), \(interval / Self.second) s: \(fault)") }
                }
            }
        }
        #expect(switchCount > 2000)
    }

    @Test(arguments: [
        ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),
        ("America/Sao_Paulo", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"),
        ("Asia/Beirut", "2024-03-30T22:00:00Z", "2024-03-31T21:00:00Z"),
        ("Africa/Cairo", "2023-10-25T21:00:00Z", "2023-10-26T22:00:00Z"),
        ("America/Havana", "2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"),
        ("Australia/Lord_Howe", "2024-10-05T13:30:00Z", "2024-10-06T13:00:00Z"),
        ("Asia/Pyongyang", "2018-05-03T15:30:00Z", "2018-05-04T15:00:00Z"),
        ("Africa/Casablanca", "2024-03-09T23:00:00Z", "2024-03-11T00:00:00Z"),
    ])
    func `days are those of the calendar`(_ name: String, _ first: String, _ end: String) throws {
        guard isReady else { return }
        let buckets = TimeBuckets(interval: Self.day, zone: try TimeZoneRules(named: name))
        let start = try #require(Timestamp(first)).nanoseconds
        let bounds = buckets.bounds(start)
        #expect(bounds.start == start)
        #expect(Timestamp(nanoseconds: bounds.end).text() == end)
    }

    // MARK: Text

    @Test func `what clocks show is read back`() throws {
        guard isReady else { return }
        for name in SystemZones.all {
            let zone = try TimeZoneRules(named: name)
            for moment in SystemZones.switches(zone) {
                for minutes in [-90, -60, -30, -1, 0, 1, 29, 30, 59, 60, 90] as [Int64] {
                    let time = moment + minutes * 60 * Self.second
                    let shown = Timestamp(nanoseconds: local(time, zone)).text().dropLast()
                    let civil = try #require(CivilTime(String(shown)))
                    let read = try #require(zone.timestamp(of: civil)).nanoseconds
                    // Of a time that comes twice the earlier is meant.
                    let isRight =
                        local(read, zone) == local(time, zone) && read <= time
                        && (read == time || time - read <= 26 * Self.hour)
                    if !isRight { Issue.record("\(name): \(shown) is read as \(read)") }
                }
                // What is skipped is read as if clocks had not yet been moved.
                let before = local(moment - Self.second, zone) + Self.second
                guard local(moment, zone) > before + Self.second else { continue }
                let skipped = Timestamp(nanoseconds: before + Self.second).text().dropLast()
                let civil = try #require(CivilTime(String(skipped)))
                let read = zone.timestamp(of: civil)?.nanoseconds
                if read != moment + Self.second { Issue.record("\(name): skipped \(skipped)") }
            }
        }
    }

    // MARK: Statements

    @Test func `counts of local buckets add up in every zone`() throws {
        guard isReady else { return }
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        var batch = WriteBatch()
        let start = try #require(Timestamp("2018-01-01")).nanoseconds
        let count = 2200
        for row in 0..<count {
            // Eleven hours and a bit apart: nearly three years.
            let time = Timestamp(nanoseconds: start + Int64(row) * 40_007 * Self.second)
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"], time: time,
                fields: ["v": .integer(1)])
        }
        _ = try database.write(batch)
        let options = QueryOptions(now: Timestamp(nanoseconds: start + 1500 * Self.day))
        func total(_ name: String, _ group: String, _ lower: String) throws -> Int64 {
            let result = try database.query(
                "SELECT count(v) FROM m WHERE time >= '\(lower)' GROUP BY time(\(group)) "
                    + "tz('\(name)')", options: options)
            let counts = result.series.first?.column("count")?.integers ?? []
            return counts.reduce(0) { $0 + ($1 ?? 0) }
        }
        for name in SystemZones.all {
            #expect(try total(name, "1d", "2017-12-30") == Int64(count), "\(name)")
        }
        for name in [
            "Europe/Helsinki", "Australia/Lord_Howe", "Africa/Casablanca", "America/Sao_Paulo",
            "Asia/Gaza", "Asia/Pyongyang",
        ] where SystemZones.all.contains(name) {
            for group in ["3h", "1w", "1d, 12h"] {
                #expect(try total(name, group, "2017-12-30") == Int64(count), "\(name) \(group)")
            }
        }
    }
}
