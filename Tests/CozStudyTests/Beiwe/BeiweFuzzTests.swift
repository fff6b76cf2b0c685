// Beiwe files with everything wrong: nothing may trap, and what is refused is refused again.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct BeiweFuzzTests {
    private static let seeds = [
        "gps/a.csv": """
        timestamp,UTC time, latitude,longitude,altitude,accuracy
        1444362737012,2015-10-09T03:52:17.12,41.3149941,-72.9593582,0.0,79.5
        1444362737012,2015-10-09T03:52:17.012,41.3149942,-72.9593582,0.0,79.5
        1444362747691,2015-10-09T03:52:27.691,41.31526414,-72.95966934,9.0,49.0
        """,
        "wifi/2022-03-10 13_00_00+00_00.csv":
            "timestamp,UTC time,hashed MAC,frequency,RSSI\n1,,a,2437,-72\n-1,,b,x,9e99\n",
        "unknown/x.csv": "a,timestamp,timestamp,b\n1,1000,2,ü\n,,,\n",
        "survey_timings/s/a.csv":
            "timestamp,question id,answer,event\n1000,q,\"a\",changed\n1000,q,b,changed\n",
        "survey_answers/s/2022-03-14 16_32_56+00_00.csv":
            "question id,question type,question text,question answer options,answer\n"
            + "q1,slider,How?,[a;b],4\nq2,,,,\n",
    ]

    private static func mutated(_ text: String, _ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array(text.utf8)
        let odd = Array("\0\n\r,\";[]+-.eE0123456789tT _\u{FEFF}".utf8) + [0xFF, 0x80, 0xC3]
        for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = odd.randomElement(using: &random) ?? 0
            case 1: bytes.insert(odd.randomElement(using: &random) ?? 0, at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + 9))
            case 3: bytes += bytes[place...]
            default: bytes.removeLast(bytes.count - place)
            }
        }
        return bytes
    }

    @Test(arguments: 0..<25) func `damaged files are read to their ends`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let export = try BeiweExport()
        for (name, text) in Self.seeds.sorted(by: { $0.key < $1.key }) {
            let data = Data(Self.mutated(text, &random))
            try export.write(data, "\(BeiweExport.patient)/\(name)")
        }
        export.options.batchRows = Int.random(in: 1...5, using: &random)
        let first = try export.load()
        let contents = try export.contents()
        let rejects = try export.rejects()
        let second = try export.load()
        #expect(first.points == second.points)
        #expect(first.refusedLines == second.refusedLines)
        #expect(try export.contents() == contents, "seed \(seed)")
        #expect(try export.rejects() == rejects, "seed \(seed)")
    }
}
