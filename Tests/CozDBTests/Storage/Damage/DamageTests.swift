// Files of a closed database go bad in many ways: each is reported, nothing wrong is ever read, and
// a repair brings everything back that is not inside the damage.

import CozTestSupport
import Foundation
import Testing

@testable import CozDB

struct DamageTests {
    static let sound = Result { try SoundDatabase(rowCount: 100) }
    static let foreign = Result { try SoundDatabase(rowCount: 100, seed: 1 << 32) }
    static let killed = Result { try SoundDatabase.killed(rowCount: 100) }
    static let foreignKilled = Result {
        try SoundDatabase.killed(rowCount: 100, seed: 1 << 32)
    }
    /// With several blocks of a field.
    static let large = Result { try SoundDatabase(rowCount: 1500) }

    /// Whether there is time for all of it.
    private let isThorough = ProcessInfo.processInfo.environment["COZDB_DAMAGE"] != nil

    /// Seeds of a test that takes a few milliseconds for each.
    private func seeds(_ count: Int, inThousand share: Int) -> Range<Int> {
        let variable = ProcessInfo.processInfo.environment["COZDB_DAMAGE"] ?? ""
        return 0..<(Int(variable).map { $0 * share / 1000 } ?? count)
    }

    @Test func `a sound database has no findings and needs no repair`() throws {
        let sound = try Self.sound.get()
        let system = sound.system.survivor(.nothing)
        #expect(try Examination.check(system).isEmpty)
        #expect(try Examination.repair(system).isEmpty)
        #expect(SoundDatabase.bytes(of: system) == sound.files)
        #expect(sound.files.count == SoundDatabase.segmentCount * 3 + 2)
        let killed = try Self.killed.get().system.survivor(.nothing)
        #expect(try Examination.check(killed).isEmpty)
        #expect(try Examination.repair(killed).isEmpty)
    }

    @Test func `any damage is reported, never answered wrongly, and repaired`() throws {
        let (sound, foreign) = (try Self.sound.get(), try Self.foreign.get())
        for seed in seeds(50, inThousand: 1000) { expect(seed, sound, foreign) }
    }

    @Test func `what a killed writer acknowledged is there, or reported as lost`() throws {
        let (killed, foreign) = (try Self.killed.get(), try Self.foreignKilled.get())
        #expect(try killed.manifest().logs.map { $0.sealedSizeBytes == nil } == [false, true])
        for seed in seeds(30, inThousand: 200) { expect(seed, killed, foreign) }
    }

    private func expect(_ seed: Int, _ sound: SoundDatabase, _ foreign: SoundDatabase) {
        var random = SeededRandom(seed: UInt64(seed))
        let system = sound.system.survivor(.nothing)
        guard let damage = FileDamage.make(&random, sound, foreign: foreign, in: system) else {
            return
        }
        let what = "seed \(seed), closed \(sound.isClosed): \(damage)"
        do {
            try expectRepair(of: system, damage, sound, what)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    private func expectRepair(
        of system: FaultyFileSystem, _ damage: FileDamage, _ sound: SoundDatabase, _ what: String
    ) throws {
        let comment = Comment(rawValue: what)
        let found = try Examination.check(system)
        // One of LOCK's two records is enough, and an older one harms nothing.
        if sound.isClosed, damage.path != "db/LOCK" { #expect(!found.isEmpty, comment) }
        if damage.kind == .flip { #expect(found.count <= 1, "\(what): \(found)") }
        if let file = found.first?.file {
            #expect(damage.path == "db/" + file || damage.kind == .swap, "\(what): \(file)")
        }
        let before = try Examination.readable(system)
        if let before { #expect(Examination.wrong(before, sound) == 0, comment) }
        if found.isEmpty { #expect(before == sound.contents, comment) }
        let (contents, report) = try Examination.repaired(system, sound, what)
        #expect(report.isEmpty == found.isEmpty, "\(what): \(report.lines)")
        expectKept(contents, damage, sound, what, report)
        let database = try SoundDatabase.open(system)
        _ = try database.write(SoundDatabase.batch(9, rowCount: 10))
        try database.close()
        #expect(try Examination.check(system).isEmpty, comment)
    }

    private func expectKept(
        _ contents: Contents, _ damage: FileDamage, _ sound: SoundDatabase, _ what: String,
        _ report: RepairReport
    ) {
        let losers = Examination.losers(contents, sound)
        let text = Comment(rawValue: "\(what): batches \(losers); \(report.lines)")
        // A segment has one batch, a log two of them; each has a file of refusals beside it.
        let suffix = damage.path.suffix(4)
        let limits: [Substring: Int] = [".seg": 1, ".wal": 2]
        var limit = limits[suffix] ?? 0
        switch damage.kind {
        case .swap: limit = max(1, limit) * 2
        case .append: limit = 0
        default: break
        }
        #expect(losers.count <= limit, text)
        if suffix != ".rej", suffix != ".wal", damage.kind != .swap {
            #expect(contents.refusals == sound.contents.refusals, text)
        }
    }

    @Test func `flips in every part of a segment cost no more than that part`() throws {
        let sound = try Self.large.get()
        let manifest = try Manifest(decoding: sound.system["db/MANIFEST"])
        let directory = try sound.system.openDirectory(
            SoundDatabase.path, create: false, access: .ownerOnly)
        let info = try #require(manifest.segments.first { $0.rowCount > 1000 })
        let reader = try SegmentReader(in: directory, info, databaseID: manifest.databaseID)
        var parts = reader.footerParts + (try reader.seriesParts()) + (try reader.timeParts())
        for field in reader.footer.fields.indices { parts += try reader.valueParts(ofField: field) }
        let path = "db/" + FileName.segment(info.number).text
        var kinds: Set<String> = []
        for (number, (place, part)) in parts.enumerated() {
            // All kinds, and some of each; all of them where there is time.
            let isNew = kinds.insert("\(part)".prefix { $0 != "(" }.description).inserted
            guard isNew || isThorough || number % 8 == 0 else { continue }
            let system = sound.system.survivor(.nothing)
            system[path][place.offset + place.sizeBytes / 2] ^= 4
            let found = try Examination.check(system)
            #expect(found.count == 1, "\(part): \(found)")
            #expect(found.first?.offset == place.offset, "\(part)")
            switch part {
            case .series, .seriesDirectory: break  // Names that are damaged cannot be said.
            default: #expect(found.first?.lost == reader.lost(at: place), "\(part)")
            }
            #expect(found.first?.lost.contains("experiment \"dev\"") == true, "\(part)")
            let damaged = try SegmentReader(
                in: system.openDirectory(SoundDatabase.path, create: false, access: .ownerOnly),
                info, databaseID: manifest.databaseID)
            let fields = try lostFields(with: part, of: damaged)
            let report = try Examination.repair(system)
            let contents = try Contents(SoundDatabase.open(system, .readOnly))
            #expect(Examination.wrong(contents, sound) == 0, "\(part)")
            let lost = sound.contents.cells.keys.filter { contents.cells[$0] == nil }
            #expect(!lost.isEmpty, "\(part): \(report.lines)")
            #expect(try Examination.check(system).isEmpty, "\(part)")
            switch part {
            case .values, .fieldDirectory, .dictionary:
                // A row that loses its last field goes with its attributes.
                let all = fields + ["device"]
                #expect(lost.allSatisfy { all.contains($0.column) }, "\(part): \(report.lines)")
            case .times:
                #expect(Set(lost.map(\.time)).count <= SegmentFormat.blockCountMax, "\(part)")
            default: break
            }
        }
        #expect(kinds.count >= 7, "\(kinds)")
    }

    /// The fields that a damaged part of one takes values of.
    private func lostFields(
        with part: SegmentPart, of damaged: SegmentReader
    ) throws -> [String] {
        switch part {
        case .values(let field, _), .fieldDirectory(let field), .dictionary(let field):
            let damage = SegmentDamage(fields: [field])
            let loss = try SegmentLoss(of: damage, in: SegmentReader(quiet: damaged))
            return damaged.footer.fields.indices.filter { loss.all(ofField: $0) != nil }
                .map { damaged.footer.fields[$0].column.name }
        default: return []
        }
    }

    @Test(arguments: ["heart", "mood"])
    func `a query that meets damage says what check says, and others go on`(name: String) throws {
        let sound = try Self.large.get()
        let manifest = try Manifest(decoding: sound.system["db/MANIFEST"])
        let directory = try sound.system.openDirectory(
            SoundDatabase.path, create: false, access: .ownerOnly)
        let info = try #require(manifest.segments.first { $0.rowCount > 1000 })
        let reader = try SegmentReader(in: directory, info, databaseID: manifest.databaseID)
        let field = try #require(reader.footer.fields.firstIndex { $0.column.name == name })
        var places = try reader.valueParts(ofField: field).prefix(1).map(\.handle)
        places += [reader.footer.fields[field].dictionary].filter { $0.sizeBytes > 0 }
        #expect(places.count == (name == "mood" ? 2 : 1))
        for place in places {
            let system = sound.system.survivor(.nothing)
            system["db/" + FileName.segment(info.number).text][place.offset] ^= 1
            let finding = try #require(try Examination.check(system).first)
            let database = try SoundDatabase.open(system, .readOnly)
            #expect(finding.offset == place.offset)
            for query in ["SELECT \(name) FROM dev", "SELECT mode(\(name)) FROM dev"] {
                let error = #expect(throws: DatabaseError.self) { _ = try database.query(query) }
                #expect(error?.kind == .damaged && error?.offset == finding.offset)
                #expect(error?.message == finding.found + "; lost: " + finding.lost)
            }
            _ = try database.query("SELECT median(steps) FROM dev")
            _ = try database.query("SELECT median(heart) FROM other")
        }
    }

    @Test func `a repair that crashes anywhere is made up for by the next one`() throws {
        let sound = try Self.sound.get()
        let broken = sound.system.survivor(.nothing)
        let manifest = try Manifest(decoding: broken["db/MANIFEST"])
        let segment = "db/" + FileName.segment(manifest.segments[0].number).text
        broken[segment][broken[segment].count / 3] ^= 1
        let rejects = "db/rejects/" + FileName.rejects(manifest.rejects[1].number).text
        broken[rejects][20] ^= 1
        let whole = broken.survivor(.nothing)
        _ = try Examination.repair(whole)
        let expected = try Contents(SoundDatabase.open(whole, .readOnly))
        let losses = [FaultyFileSystem.Loss.nothing, .everything, .random(seed: 7)]
        for (index, loss) in losses.enumerated() {
            // Some calls with each loss; all of them where there is time.
            let step = isThorough ? 1 : 4 * losses.count
            for call in stride(from: isThorough ? 0 : index, to: whole.callCount, by: step) {
                let system = broken.survivor(.nothing, faults: [.init(at: call, .crash)])
                _ = try? Examination.repair(system)
                let left = system.survivor(loss)
                do {
                    _ = try Examination.repair(left)
                    #expect(try Examination.check(left).isEmpty, "\(call) \(whole.calls[call])")
                    let found = try Contents(SoundDatabase.open(left, .readOnly))
                    #expect(found == expected, "\(call) \(whole.calls[call])")
                } catch {
                    Issue.record("\(loss) call \(call) \(whole.calls[call]): \(error)")
                }
            }
        }
    }

    /// Databases in which LOCK and the manifest that is seen are not of one moment.
    private static func uneven() throws -> [FaultyFileSystem] {
        // As after a power loss: LOCK is older than the manifest, which names logs.
        let older = try killed.get().system.survivor(.nothing)
        var state = try #require(AcknowledgedState(older["db/LOCK"]))
        state.generation -= 2
        older["db/LOCK"] = state.record(at: 0) + state.record(at: 512)
        let log = try #require(older.files.last { $0.hasSuffix(".wal") })
        older[log][100] ^= 1
        // The name of the newest manifest is seen and not durable: syncing it failed, and the next
        // sync does not try again.
        func closed(_ faults: [FaultyFileSystem.Fault]) throws -> (FaultyFileSystem, Int?) {
            let system = try sound.get().system.survivor(.nothing, faults: faults)
            let database = try SoundDatabase.open(system)
            _ = try database.write(SoundDatabase.batch(7, rowCount: 10))
            let start = system.callCount
            try? database.close()
            return (system, system.calls[start...].firstIndex { $0.hasPrefix("rename") })
        }
        let rename = try #require(try closed([]).1)
        let unsynced = try closed([.init(at: rename + 1, .reverted(EIO))]).0.survivor(.nothing)
        #expect(unsynced["db/MANIFEST"] != unsynced.survivor(.everything)["db/MANIFEST"])
        return [older, unsynced]
    }

    @Test func `a repair that crashes anywhere leaves manifest and lock that agree`() throws {
        for broken in try Self.uneven() {
            let segment = try #require(broken.files.first { $0.hasSuffix(".seg") })
            broken[segment][broken[segment].count / 3] ^= 1
            let whole = broken.survivor(.nothing)
            #expect(try !Examination.repair(whole).isEmpty)
            #expect(try Manifest(decoding: whole["db/MANIFEST"]).logs.isEmpty)
            for call in 0..<whole.callCount {
                for loss in [FaultyFileSystem.Loss.nothing, .everything] {
                    let system = broken.survivor(.nothing, faults: [.init(at: call, .crash)])
                    _ = try? Examination.repair(system)
                    let found = try Examination.check(system.survivor(loss)).map(\.file)
                    let names = Set(found).intersection(["LOCK", "MANIFEST"])
                    #expect(names.isEmpty, "\(call) \(whole.calls[call]), \(loss)")
                }
            }
        }
    }
}
