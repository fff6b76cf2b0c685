// The questions of a study against their naive answers, over random studies: late and doubled
// data, days of 23 and 25 hours, days without data, participants without surveys.
// COZDB_STUDY_SEEDS=400 asks of more of them.

internal import CozDB
@testable internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct StudyAgreementTests {
    private static let seeds: Range<UInt64> =
        0..<UInt64(
            ProcessInfo.processInfo.environment["COZDB_STUDY_SEEDS"] ?? "12")!

    /// One study with the options of one run.
    private struct Case {
        var study: Study
        var naive: NaiveStudy
        var options: StudyOptions
    }

    private static func make(_ seed: UInt64) throws -> Case {
        var random = SeededRandom(seed: seed)
        let naive = NaiveStudy(&random)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try naive.write(to: database, &random)
        let times = naive.rows.flatMap { $0.rows.map(\.time) }
        func time() -> Timestamp {
            Timestamp(
                nanoseconds: (times.randomElement(using: &random) ?? 0)
                    + Int64.random(in: -1...1, using: &random))
        }
        var options = StudyOptions(now: time())
        options.zone = naive.zone
        if Bool.random(using: &random) { options.from = time() }
        if Bool.random(using: &random) { options.until = time() }
        if Bool.random(using: &random) {
            options.participants = naive.rows.map(\.name).filter { _ in
                Bool.random(using: &random)
            }
        }
        if Bool.random(using: &random) { options.goal = Int.random(in: 1...9, using: &random) }
        options.minGap = .seconds([0, 1, 3_300, 86_400].randomElement(using: &random) ?? 0)
        options.isByParticipant = Bool.random(using: &random)
        let study = try Study(
            try database.snapshot(), experiment: "demo", options: options)
        return Case(study: study, naive: naive, options: options)
    }

    @Test(arguments: seeds) func `participants are found with all they have`(seed: UInt64) throws {
        let one = try Self.make(seed)
        let naive = one.naive.chosen(one.options)
        #expect(
            one.study.participants.map { Array($0.participant.utf8) }
                == naive.map {
                    Array($0.name.utf8)
                }, "seed \(seed)")
        for (found, expected) in zip(one.study.participants, naive) {
            let fields = expected.rows.flatMap(\.fields.keys)
            #expect(found.first.nanoseconds == expected.rows.first?.time, "seed \(seed)")
            #expect(found.last.nanoseconds == expected.rows.last?.time, "seed \(seed)")
            #expect(found.values == fields.count, "seed \(seed)")
            #expect(found.fields == Set(fields).count, "seed \(seed)")
            #expect(found.responses == fields.count { $0 == "ws_survey_count" }, "seed \(seed)")
        }
        for row in try one.study.overview().rows {
            let rows = naive.first { $0.name.utf8.elementsEqual(row.participant.utf8) }?.rows ?? []
            let inRange = rows.filter { one.naive.isInRange($0.time, one.options) }
            #expect(row.values == inRange.reduce(0) { $0 + $1.fields.count }, "seed \(seed)")
            #expect(row.first.nanoseconds == inRange.first?.time, "seed \(seed)")
        }
    }

    @Test(arguments: seeds) func `responses and votes are counted by local day`(seed: UInt64) throws
    {
        let one = try Self.make(seed)
        let hasStart = one.study.statement(of: .responses)?.contains("surveys") == true
        let gap = one.options.minGap.components.seconds * NaiveStudy.second
        var responses: [DailyResponses] = []
        var votes: [DailyVotes] = []
        for (name, rows) in one.naive.chosen(one.options) {
            let valid = NaiveStudy.votes(rows, gap: gap)
            for day in one.naive.days(rows, one.options) {
                let inDay = rows.filter {
                    one.naive.day($0.time) == day && one.naive.isInRange($0.time, one.options)
                }
                let count = inDay.count { $0.fields["ws_survey_count"] != nil }
                responses.append(
                    DailyResponses(
                        participant: name, day: LocalDate(dayNumber: day), responses: count,
                        surveys: hasStart
                            ? Set(inDay.compactMap { $0.fields["ws_timestamp_start"] }).count
                            : nil))
                votes.append(
                    DailyVotes(
                        participant: name, day: LocalDate(dayNumber: day), responses: count,
                        valid: inDay.count { valid.contains($0.time) }))
            }
        }
        let answer = try one.study.responses()
        // Without the field there is no statement.
        guard answer.statement != nil else {
            #expect(answer.note?.contains("no survey rows") == true, "seed \(seed)")
            return
        }
        #expect(answer.rows == responses, "seed \(seed)")
        #expect(try one.study.votes().rows == votes, "seed \(seed)")
    }

    @Test(arguments: seeds) func `progress counts from the first response`(seed: UInt64) throws {
        let one = try Self.make(seed)
        let gap = one.options.minGap.components.seconds * NaiveStudy.second
        var expected: [GoalProgress] = []
        for (name, all) in one.naive.chosen(one.options) {
            let valid = NaiveStudy.votes(all, gap: gap)
            let rows = all.filter { $0.time < one.options.until?.nanoseconds ?? .max }
            var goal = one.options.goal
            if goal == nil,
                case .integer(let last)? = rows.compactMap({ $0.fields["wss_goal"] }).last
            {
                goal = Int(last)
            }
            for day in one.naive.days(all, one.options) {
                let past = rows.filter { one.naive.day($0.time) <= day }
                expected.append(
                    GoalProgress(
                        participant: name, day: LocalDate(dayNumber: day),
                        responses: past.count { $0.fields["ws_survey_count"] != nil },
                        valid: past.count { valid.contains($0.time) }, goal: goal))
            }
        }
        let answer = try one.study.goal()
        guard answer.statement != nil else { return }
        #expect(answer.rows == expected, "seed \(seed)")
    }

    @Test(arguments: seeds) func `last entries and availability are exact`(seed: UInt64) throws {
        let one = try Self.make(seed)
        var entries: [LastEntry] = []
        var available: [DailyAvailability] = []
        for (name, rows) in one.naive.chosen(one.options) {
            for field in one.study.modalities {
                let times = rows.filter { $0.fields[field] != nil }.map(\.time)
                    .filter { one.naive.isInRange($0, one.options) }
                let now = one.options.query.currentTime.nanoseconds
                let last = times.last { $0 <= now }
                entries.append(
                    LastEntry(
                        participant: name, field: field,
                        last: last.map { Timestamp(nanoseconds: $0) },
                        silence: last.map { now - $0 }))
                for day in one.naive.days(rows, one.options) {
                    available.append(
                        DailyAvailability(
                            participant: name, field: field, day: LocalDate(dayNumber: day),
                            count: times.count { one.naive.day($0) == day }))
                }
            }
        }
        #expect(try one.study.silence().rows == entries, "seed \(seed)")
        #expect(try one.study.availability().rows == available, "seed \(seed)")
    }

    @Test(arguments: seeds) func `intervals are those within a participant`(seed: UInt64) throws {
        let one = try Self.make(seed)
        var steps: [String: [Double]] = [:]
        for (name, rows) in one.naive.chosen(one.options) {
            for field in one.study.modalities {
                let times = rows.filter { $0.fields[field] != nil }.map(\.time)
                    .filter { one.naive.isInRange($0, one.options) }
                let key = (one.options.isByParticipant ? Self.hex(name) : "") + "/" + field
                steps[key, default: []] += zip(times.dropFirst(), times).map {
                    Double(($0 - $1) / 1_000_000) / 1_000
                }
            }
        }
        steps = steps.filter { !$0.value.isEmpty }
        let rows = try one.study.intervals().rows
        #expect(rows.count == steps.count, "seed \(seed)")
        for row in rows {
            let values = steps[Self.hex(row.participant ?? "") + "/" + row.field] ?? [0]
            #expect(row.count == values.count, "seed \(seed)")
            #expect(abs(row.median - NaiveStudy.median(values)) < 1e-9, "seed \(seed)")
            #expect(row.p90 == NaiveStudy.percentile(values, 90), "seed \(seed)")
            #expect(row.max == values.max(), "seed \(seed)")
        }
    }

    @Test(arguments: seeds) func `delays prefer numbers to texts`(seed: UInt64) throws {
        let one = try Self.make(seed)
        var delays: [String: [Double]] = [:]
        for (name, rows) in one.naive.chosen(one.options) {
            for row in rows where one.naive.isInRange(row.time, one.options) {
                var arrival: Int64?
                if case .string(let text)? = row.fields["timestamp_lambda"] {
                    arrival = Timestamp(text)?.nanoseconds
                }
                if case .float(let number)? = row.fields["timestamp_lambda_ms"] {
                    arrival = Int64(number) * 1_000_000
                }
                guard let arrival else { continue }
                var trigger = ""
                if case .string(let text)? = row.fields["transmit_trigger"] { trigger = text }
                let key = (one.options.isByParticipant ? Self.hex(name) : "") + "/" + trigger
                delays[key, default: []].append(Double(arrival - row.time) / 1e9)
            }
        }
        let rows = try one.study.delays().rows
        #expect(rows.count == delays.count, "seed \(seed)")
        for row in rows {
            let values = delays[Self.hex(row.participant ?? "") + "/" + row.trigger] ?? [0]
            #expect(row.count == values.count, "seed \(seed)")
            let pairs = [
                (row.min, values.min() ?? 0), (row.median, NaiveStudy.median(values)),
                (row.p90, NaiveStudy.percentile(values, 90)),
                (row.p99, NaiveStudy.percentile(values, 99)), (row.max, values.max() ?? 0),
            ]
            for (found, expected) in pairs {
                #expect(abs(found - expected) < 1e-3, "seed \(seed)")
            }
        }
    }

    /// Swift takes names for equal that differ in their bytes.
    private static func hex(_ name: String) -> String {
        name.utf8.map { String($0, radix: 16) }.joined(separator: " ")
    }
}
