// The manifest: what is written reads back, and nothing else does.

import CozTestSupport
import Testing

@testable import CozDB

struct ManifestTests {
    static func sample() -> Manifest {
        var manifest = Manifest(databaseID: 0xFEED_0000_0000_0001)
        manifest.generation = 300
        manifest.nextFileNumber = 1 << 40
        manifest.lastSequence = 99
        var schema = ExperimentSchema(
            id: 1, name: "de\u{0}v \n", identity: .tags(["a", "b"]), typeRule: .strict,
            preset: "cozie-v3")
        schema.add(name: "heart", kind: .field, type: .float, unit: "1/min", note: "a note")
        schema.add(name: "heart", kind: .attribute, type: .string)
        schema.declare(
            .init("heart", .float, unit: "1/min", note: "declared", question: "How?"))
        schema.declare(.init("q", .string, question: "Warm?", options: ["yes", "", "no"]))
        manifest.schemas.apply(
            .preset(SchemaPreset(name: "cozie-v3", fields: [.init("q_*", .string, unit: "u")])))
        manifest.schemas.insert(schema)
        manifest.schemas.insert(
            ExperimentSchema(
                id: 7, name: "é", identity: .allTags, typeRule: .lossless, preset: "none"))
        manifest.schemas.insert(
            ExperimentSchema(
                id: 9, name: "e\u{301}", identity: .standard, typeRule: .lossless, preset: ""))
        manifest.segments = [
            Manifest.Segment(
                number: 3, experiment: 1, sizeBytes: 12345, footerChecksum: 0xDEAD_BEEF,
                rowCount: 5, valueCount: 6, firstTime: .min + 2, lastTime: .max - 1)
        ]
        manifest.logs = [
            Manifest.Log(number: 4, firstSequence: 90, sealedSizeBytes: 40),
            Manifest.Log(number: 8, firstSequence: 95, sealedSizeBytes: nil),
        ]
        manifest.rejects = [
            Manifest.RejectsFile(number: 2, sizeBytes: 99, checksum: 5, entryCount: 1)
        ]
        manifest.counters.insertedValues = 1
        manifest.counters.replacedValues = 2
        manifest.counters.identicalValues = 3
        manifest.counters.mergedRows = 4
        manifest.forgotten.insert(["p07"])
        manifest.schemas.addFormer([Name("subject"), Name("a"), Name("id_participant")])
        return manifest
    }

    @Test func `a manifest reads back`() throws {
        let manifest = Self.sample()
        let read = try Manifest(decoding: manifest.encoded())
        #expect(read.encoded() == manifest.encoded())
        #expect(read.databaseID == manifest.databaseID)
        #expect(read.generation == 300)
        #expect(read.segments == manifest.segments)
        #expect(read.logs == manifest.logs)
        #expect(read.rejects == manifest.rejects)
        #expect(read.counters == manifest.counters)
        #expect(read.forgotten == manifest.forgotten && read.forgotten.contains("p07"))
        #expect(read.schemas.formerParticipantTags == [Name("a"), Name("subject")])
        #expect(read.schemas.nextID == 10)
        #expect(read.schemas.all.map(\.id) == [1, 9, 7], "in byte order of the names")
        let schema = try #require(read.schemas.named("de\u{0}v \n"))
        #expect(schema.identity == .tags(["a", "b"]))
        #expect(schema.typeRule == .strict)
        #expect(schema.field("heart")?.unit == "1/min")
        #expect(schema.attribute("heart")?.id == 1)
        #expect(schema.declaration(of: "q")?.options == ["yes", "", "no"])
        #expect(schema.declaration(of: "q_x") == .init("q_x", .string, unit: "u"))
        #expect(schema.declaration(of: "other") == nil)
    }

    @Test func `every flipped bit is refused`() {
        let bytes = Self.sample().encoded()
        for offset in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[offset] ^= 1 << bit
                #expect(throws: FormatError.self, "byte \(offset), bit \(bit)") {
                    try Manifest(decoding: damaged)
                }
            }
        }
    }

    @Test func `every truncation and extension is refused`() {
        let bytes = Self.sample().encoded()
        for size in 0..<bytes.count {
            #expect(throws: FormatError.self) { try Manifest(decoding: Array(bytes[..<size])) }
        }
        #expect(throws: FormatError.self) { try Manifest(decoding: bytes + [0]) }
    }

    @Test func `a newer version is named as such`() {
        var bytes = Self.sample().encoded()
        bytes[8] = UInt8(Manifest.version) + 1
        #expect { try Manifest(decoding: bytes) } throws: { error in
            (error as? FormatError)?.kind == .unsupported
        }
    }

    @Test(arguments: 0..<20) func `no bytes with a good checksum make it trap`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        // Not compressed, so that damage reaches what is inside.
        let isPlain = Bool.random(using: &random)
        let stored = Array(Self.sample().encoded()[Manifest.headerSizeBytes...])
        let payload =
            try isPlain
            ? [0] + decompressedBytes(stored.span, limit: Manifest.sizeBytesMax) : stored
        for _ in 0..<300 {
            var changed = payload
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.insert(0xFF, at: place)
                default: changed.remove(at: place)
                }
            }
            _ = try? Manifest(decoding: Manifest.file(changed))
        }
    }

    @Test func `a draft left by a crash is replaced`() throws {
        let system = FaultyFileSystem()
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        _ = try directory.create(FileName.manifestDraft.text)
        var sample = Self.sample()
        try sample.write(in: directory)
        #expect(try Manifest.read(in: directory)?.generation == 300)
        #expect(system.files == ["db/MANIFEST"])
    }

    @Test(arguments: [0, Manifest.magic.count, 50])
    func `of a huge file that is no manifest, or ends behind one, a page is read`(
        _ keptCount: Int
    ) throws {
        let system = FaultyFileSystem()
        let database = try FaultWorkload().open(system)
        _ = try database.write(FaultWorkload.batch(1))
        try database.close()
        // Of the manifest its beginning is left, or all of it.
        let bytes = system["db/MANIFEST"]
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        system["db/MANIFEST"] = keptCount < 50 ? Array(bytes[..<keptCount]) : bytes
        try directory.open("MANIFEST", writable: true).truncate(to: 1 << 30)
        let before = system.callCount
        for body in [
            { _ = try FaultWorkload().open(system) },
            { _ = try FaultWorkload().open(system, .readOnly) },
            { try Database.inspect("db/MANIFEST", on: system) { _ in } },
        ] as [() throws -> Void] {
            let start = system.readByteCount
            let error = #expect(throws: DatabaseError.self) { try body() }
            #expect(error?.kind == .damaged || error?.kind == .unsupportedFormat)
            #expect(error?.file == "db/MANIFEST")
            #expect((1..<4096).contains(system.readByteCount - start))
        }
        let calls = system.calls[before...]
        #expect(!calls.contains { $0.hasPrefix("mmap") || $0.hasPrefix("pwrite") })
    }
}
