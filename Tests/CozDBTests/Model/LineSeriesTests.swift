// Which series a refused line names: what deletions go by.

import CozTestSupport
import Testing

@testable import CozDB

struct LineSeriesTests {
    @Test(arguments: [
        ("dev,id_participant=p1 v=", "dev", ["id_participant": "p1"]),
        ("  dev,b=2,a=1", "dev", ["a": "1", "b": "2"]),
        ("my\\ dev\\,x,a\\=b=c\\ d\\,e,f=g\\=h v=1", "my dev,x", ["a=b": "c d,e", "f": "g=h"]),
        ("dev v=1", "dev", [:]),
        ("dev,broken,=x,y=,a=1 v", "dev", ["a": "1"]),
        ("\0 \tdev,a=1 v", "dev", ["a": "1"]),
        ("dev,path=C:\\dir,é=ü v=1", "dev", ["path": "C:\\dir", "é": "ü"]),
        ("dev,a=1\\", "dev", ["a": "1\\"]),
        ("dev,a=x\\\\,b=y,c=1 v=1", "dev", ["a": "x\\,b=y", "c": "1"]),
    ])
    func `experiment and tags are read as far as they are there`(
        line: String, experiment: String, tags: [String: String]
    ) throws {
        let found = try #require(LineSeries(Array(line.utf8)))
        #expect(found.experiment == experiment)
        #expect(Dictionary(found.tags.map { ($0.name, $0.value) }) { $1 } == tags)
    }

    @Test(arguments: [
        (#"{"measurement":"dev","tags":{"id_participant":"p1"}}"#, "dev", ["id_participant": "p1"]),
        (
            #"{"tags" : {"id_participant":7, "b":"x\"y\u00e9\ud83d\ude00\n"#, "",
            [
                "id_participant": "7", "b": "x\"yé😀\n",
            ]
        ),
        (#" {"debug":{"a":"1"}}"#, "", ["a": "1"]),
        // Members of other members are not the item's own.
        (
            #"{"fields":{"measurement":"x"},"measurement":"g","tags":{"id_participant":"p2"}}"#,
            "g", ["id_participant": "p2"]
        ),
        (
            #"{"fields":{"n":{"tags":{"a":"p1"}}},"measurement":"g","tags":{"a":"p2"}}"#, "g",
            ["a": "p2"]
        ),
        (#"{"fields":{"tags":{"a":"p1"}},"measurement":"g","tags":{}}"#, "g", [:]),
        // Without its own, the first of the name is as good as any.
        (
            #"{"item":{"measurement":"g","tags":{"a":"p1"}},"b":{"tags":{"a":"p2"}}"#, "g",
            ["a": "p1"]
        ),
        (
            #"{"results":[{"series":[{"name":"m","tags":{"a":"b"},"columns":["time","name"],"#
                + #""values":[[1,{"name":"x","tags":{"a":"c"}}]]}]}]}"#, "m", ["a": "b"]
        ),
    ])
    func `items of JSON are read as far as they are there`(
        line: String, experiment: String, tags: [String: String]
    ) throws {
        let found = try #require(LineSeries(Array(line.utf8)))
        #expect(found.experiment == experiment)
        #expect(Dictionary(found.tags.map { ($0.name, $0.value) }) { $1 } == tags)
    }

    @Test(arguments: [
        ("dev,a=1 v=", true), ("dev,a=1 v", true), ("dev x", true), ("soon,p1,1", false),
        ("e,soon,\"a b\",1", false), ("dev,a=1,b v=1", false), ("dev", false), ("dev,a=1", false),
        (#"{"measurement":"g","tags":{"a":"p"},"time":"soon"}"#, true),
        (#"{"measurement":"g","a":"p","time":"soon"}"#, true),
        (#"{"tags":{"a":"p"},"time":"soon"}"#, true), (#"{"a":"p","time":"soon"}"#, true),
        (#"{"_measurement":"g","a":"p","note":{"measurement":"e"}}"#, false),
        (#"{"measurement":"g","a":"p","note":{"tags":{"a":"q"}}}"#, false),
        (#"{"measurement":"g","tags":{"a":"p"},"note":{"tags":{"a":"q"}}}"#, true),
        (#"{"a":}},"measurement":"g","tags":{"a":"p"}}"#, false),
        // More than one item or line, or not a whole one.
        (#"{"measurement":"g","tags":{"a":"p"},"x":{"measurement":"g","tags":{"a":"q"}}}"#, true),
        (#"{"measurement":"g","tags":{"a":"p"},}{"measurement":"g","tags":{"a":"q"}}"#, false),
        (#"{"measurement":"g","tags":{"a":"p"},"x":{"measurement":"g","tags":{"a":"q"}}"#, false),
        ("g,a=p x=1 1g,a=q x=1 1", false), ("g,a=p x=1,b=2 1g,c=q x=1", true),
        (#"g,a=p x="y,a=q" 1g x=1"#, false), (#"g,a=p x="y",a="q" soon"#, true),
    ])
    func `what is read of a line is its series, or may be something else`(
        line: String, isWhole: Bool
    ) throws {
        #expect(try #require(LineSeries(Array(line.utf8))).isWhole == isWhole)
    }

    @Test func `in the rest of a line is what may be another`() throws {
        let line = #"g,a=p x=1,y="z",b="n,a=r" 17g,a=q\ q,c=s x=1"#
        let others = try #require(LineSeries(Array(line.utf8))).others
        #expect(others.map { "\($0.name)=\($0.value)" } == ["a=r\"", "a=q q", "c=s"])
    }

    @Test(arguments: [
        (#"{"measurement":"g","a":"p1","note":{"tags":{"a":"p2"}},"x":}"#, ["p1"]),
        (
            #"{"a":}},"measurement":"g","fields":{"tags":{"a":"p2"}},"tags":{"a":"p1"}}"#,
            ["p2", "p1"]
        ),
    ])
    func `of broken items every member counts that may be theirs`(
        line: String, values: [String]
    ) throws {
        #expect(try #require(LineSeries(Array(line.utf8))).tags.map(\.value) == values)
    }

    @Test func `members of members are no tags of an item that has tags of its own`() throws {
        let line = #"{"measurement":"g","a":"p2","time":1,"note":{"a":"p1"}}"#
        let found = try #require(LineSeries(Array(line.utf8)))
        #expect(found.tags.map(\.value) == ["p2", "1"])
    }

    @Test(arguments: ["", "   ", ",a=1 v=1", "{", "{\"", "{}", #"{"a":}"#, #"{"a\u00"#])
    func `a line without a name names none`(line: String) {
        #expect(LineSeries(Array(line.utf8)) == nil)
    }

    @Test func `the series of a refused point is that of the point`() throws {
        let letters = ["a", "b", ",", "=", " ", "\\", "\"", "\n", "\t", "{", "é", "\u{1}"]
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            func name() -> String {
                (0..<Int.random(in: 1...4, using: &random))
                    .map { _ in letters.randomElement(using: &random)! }.joined()
            }
            let first = ["m", "{", "#", "\t{", " ", "\u{FEFF}"].randomElement(using: &random)!
            let experiment = first + name()
            var tags = [name(): name()]
            tags[name()] = name()
            var batch = WriteBatch()
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: .min),
                fields: [name(): .string(name())])
            let fields = ["measurement", "tags", "id_participant"].randomElement(using: &random)!
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: .min),
                fields: [fields: .string("other"), name(): .string(name())])
            let row = batch.rows[Int(seed % 2)]
            let start = seed % 2 == 0 ? 0 : Int(batch.rows[0].cellEnd)
            let line = LineText.point(row, start..<Int(row.cellEnd), of: batch)
            let found = try #require(LineSeries(Array(line.utf8)), "seed \(seed): \(line)")
            #expect(found.experiment == experiment, "seed \(seed): \(line)")
            #expect(found.tags.count == tags.count, "seed \(seed): \(line)")
            for (tag, value) in tags {
                #expect(
                    found.tags.contains { $0.name == tag && $0.value == value },
                    "seed \(seed): \(line)")
            }
        }
    }

    @Test func `any bytes are taken`() {
        var random = SeededRandom(seed: 1)
        let alphabet = Array(", =\\a\u{0}\u{ff}\"\t{:u0".utf8)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<12, using: &random)
            let line = (0..<count).map { _ in alphabet.randomElement(using: &random)! }
            _ = LineSeries(line)
        }
    }

    @Test func `a long name costs no search in short texts`() {
        let refusal = Refusal(
            subject: .line(Array("m v=".utf8)), reason: "no value", source: "f", line: 1)
        let growth = Growth(from: 2000) { size in
            (name: String(repeating: "p", count: 20 * size), count: size)
        } _: { input in
            var found = 0
            for _ in 0..<input.count where refusal.mentions(tags: []).hasWord(input.name) {
                found += 1
            }
            #expect(found == 0)
        }
        #expect(growth.isLinear, "\(growth)")
        #expect(refusal.mentions(tags: []).hasWord("value"))
        #expect(!refusal.mentions(tags: []).hasWord("val"))
    }
}
