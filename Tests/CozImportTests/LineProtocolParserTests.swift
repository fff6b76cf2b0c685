// Every rule of line protocol, one by one.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct LineProtocolParserTests {
    @Test func `a point has measurement, tags, fields and time`() throws {
        let point = try onePoint("m,b=2,a=1 f=1.5,i=-3i,s=\"x\",t=true 42")
        #expect(
            point
                == ParsedPoint(
                    experiment: "m", tags: ["a": "1", "b": "2"], time: 42,
                    fields: [
                        "f": .float(1.5), "i": .integer(-3), "s": .string("x"),
                        "t": .boolean(true),
                    ], line: 1))
    }

    @Test func `escapes are taken off where they have a meaning`() throws {
        let cases: [(String, ParsedPoint)] = [
            (
                #"cpu\,main v=1 1"#,
                ParsedPoint(experiment: "cpu,main", tags: [:], time: 1, fields: [:])
            ),
            (
                #"cpu\ load v=1 1"#,
                ParsedPoint(experiment: "cpu load", tags: [:], time: 1, fields: [:])
            ),
            (
                #"cpu\=load v=1 1"#,
                ParsedPoint(experiment: #"cpu\=load"#, tags: [:], time: 1, fields: [:])
            ),
            (
                #"m,a\,b=c\=d v=1 1"#,
                ParsedPoint(experiment: "m", tags: ["a,b": "c=d"], time: 1, fields: [:])
            ),
            (
                #"m,a=\\ b v=1 1"#,
                ParsedPoint(experiment: "m", tags: ["a": #"\ b"#], time: 1, fields: [:])
            ),
            (
                #"m,a=b\t v=1 1"#,
                ParsedPoint(experiment: "m", tags: ["a": #"b\t"#], time: 1, fields: [:])
            ),
            (
                #"m,a==b v=1 1"#,
                ParsedPoint(experiment: "m", tags: ["a": "=b"], time: 1, fields: [:])
            ),
        ]
        for (text, expected) in cases {
            var point = try #require(try onePoint(text), "\(text)")
            #expect(point.fields == ["v": .float(1)], "\(text)")
            point.fields = [:]
            point.line = 0
            #expect(point == expected, "\(text)")
        }
        #expect(try onePoint(#"m a\ b\,c\=d\e=1 1"#)?.fields == [#"a b,c=d\e"#: .float(1)])
    }

    @Test func `strings know two escapes and hold newlines`() throws {
        let cases: [(String, String)] = [
            (#""""#, ""), (#""a\"b""#, #"a"b"#), (#""a\\""#, #"a\"#), (#""a\nb\,""#, #"a\nb\,"#),
            ("\"a\nb\r\nc\"", "a\nb\r\nc"), (#""\\\"""#, #"\""#), (#""a=1,b c""#, "a=1,b c"),
            ("\"äöü 😀\"", "äöü 😀"),
        ]
        for (text, expected) in cases {
            let fields = try onePoint("m s=\(text),t=\(text) 1")?.fields
            #expect(fields == ["s": .string(expected), "t": .string(expected)], "\(text)")
        }
    }

    @Test func `lines are counted through strings`() throws {
        let input = try parse("m s=\"a\nb\",v=1 1\n\n# c\nm v=2 2\nbad\n")
        #expect(input.points.map(\.line) == [1, 5])
        #expect(input.refusals.map(\.line) == [6])
    }

    @Test func `every spelling of a boolean is read, no other`() throws {
        for text in ["t", "T", "true", "True", "TRUE"] {
            #expect(try onePoint("m v=\(text)")?.fields == ["v": .boolean(true)])
            #expect(try onePoint("m v=\(text) 1\r\n")?.fields == ["v": .boolean(true)])
        }
        for text in ["f", "F", "false", "False", "FALSE"] {
            #expect(try onePoint("m v=\(text),w=1")?.fields["v"] == .boolean(false))
        }
        for text in ["tRUE", "trues", "tr", "yes", "fALSE", "truetrue", "tfalse"] {
            #expect(try refusal("m v=\(text) 1") == "5: invalid boolean", "\(text)")
        }
    }

    @Test func `numbers that InfluxDB refuses are refused`() throws {
        for text in ["1u", "-", ".", "1.0i", "1ii", "1i5", "1.1.1", "0x1", "NaN", "nan", "-inf"] {
            #expect(try refusal("m v=\(text) 1")?.contains("invalid number") == true, "\(text)")
        }
        #expect(try refusal("m v=1e400") == "5: invalid float")
        #expect(try refusal("m v=inf") == "5: invalid boolean")
        #expect(try refusal("m v=+1") == "5: invalid boolean")
        #expect(
            try refusal("m v=9223372036854775808i")
                == "5: unable to parse integer 9223372036854775808: strconv.ParseInt: parsing "
                + "\"9223372036854775808\": value out of range")
    }

    @Test func `bad structure is refused with its reason and column`() throws {
        let cases: [(String, String)] = [
            (",a=b v=1", "1: missing measurement"), ("m", "2: missing fields"),
            ("m ", "3: missing fields"), ("m,", "3: missing tag key"),
            ("m,=b v=1", "3: missing tag key"), ("m,a v=1", "4: missing tag value"),
            ("m,a= v=1", "5: missing tag value"), ("m,a=,b=c v=1", "5: missing tag value"),
            ("m,a=b=c v=1", "6: invalid tag format"), ("m,a=b", "6: missing fields"),
            ("m,a=b,a=c v=1", "1: duplicate tags"), ("m v", "4: invalid field format"),
            ("m,a=1,b=2,a=3 v=1", "1: duplicate tags"), ("m =1", "3: missing field key"),
            ("m v=1,=2", "7: missing field key"), ("m v=", "5: missing field value"),
            ("m v=,w=1", "5: missing field value"), ("m v=1, 5", "7: invalid field format"),
            ("m v=1 x", "7: bad timestamp"), ("m v=1 1x", "8: bad timestamp"),
            ("m v=1 -", "8: bad timestamp"), ("m v=1 1 2", "9: point is invalid"),
            ("m v=\"a", "5: unbalanced quotes"), ("m v=\"a\"b", "8: unbalanced quotes"),
            (
                "m,time=1 v=1",
                "1: invalid tag key: input tag \"time\" on measurement \"m\" is invalid"
            ),
            (
                "m time=1",
                "3: invalid field name: input field \"time\" on measurement \"m\" is invalid"
            ),
        ]
        for (text, expected) in cases { #expect(try refusal(text) == expected, "\(text)") }
    }

    @Test func `a field named time is dropped`() throws {
        #expect(try onePoint("m time=5i,v=1 1")?.fields == ["v": .float(1)])
        #expect(try onePoint("m v=1,time=\"x\" 1")?.fields == ["v": .float(1)])
    }

    @Test func `times have a unit and a range`() throws {
        let units: [(TimestampPrecision, Int64)] = [
            (.nanoseconds, 1), (.microseconds, 1000), (.milliseconds, 1_000_000),
            (.seconds, 1_000_000_000), (.minutes, 60_000_000_000), (.hours, 3_600_000_000_000),
        ]
        for (precision, factor) in units {
            var options = LineProtocolParser.Options()
            options.precision = precision
            options.now = Timestamp(nanoseconds: 946_730_096_789_012_345)
            #expect(try onePoint("m v=1 -17", options: options)?.time == -17 * factor)
            let now = 946_730_096_789_012_345 / factor * factor
            #expect(try onePoint("m v=1", options: options)?.time == now)
            let limit = Timestamp.max.nanoseconds / factor
            #expect(try onePoint("m v=1 \(limit)", options: options)?.time == limit * factor)
            let outside = "7: time outside range -9223372036854775806 - 9223372036854775806"
            #expect(try refusal("m v=1 \(limit + 1)", options: options) == outside)
            #expect(try refusal("m v=1 99999999999999999999", options: options) == outside)
        }
        #expect(try onePoint("m v=1 -9223372036854775806")?.time == Int64.min + 2)
        #expect(try onePoint("m v=1 00000000000000000000005")?.time == 5)
        #expect(try refusal("m v=1 -9223372036854775807")?.contains("outside range") == true)
        #expect(try refusal("m v=1 -9223372036854775808")?.contains("outside range") == true)
    }

    @Test func `precisions have InfluxDB's names`() {
        let names = ["", "n", "ns", "u", "us", "ms", "s", "m", "h"]
        #expect(names.allSatisfy { TimestampPrecision(name: $0) != nil })
        #expect(TimestampPrecision(name: "d") == nil)
    }

    @Test func `blanks, comments and line ends do not matter`() throws {
        let text = "\u{FEFF}  \r\n\n\t# c\n  m   v=1.5   7   \r\n#\n\0m\t\n \t m v=2\t8\r\nm v=3 9"
        let input = try parse(text)
        #expect(input.points.map(\.time) == [7, 9])
        #expect(input.refusals.count == 2)
        #expect(try parse("").points.isEmpty)
        #expect(try parse("\n \n#x").points.isEmpty)
    }

    @Test func `the last of several values for a field comes last`() throws {
        #expect(try onePoint("m v=1,w=5,v=2 1")?.fields == ["v": .float(2), "w": .float(5)])
    }

    @Test func `invalid UTF-8 is refused wherever it stands and kept raw`() throws {
        let bad: [[UInt8]] = [
            [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0x80], [0xE2, 0x82],
        ]
        for bytes in bad {
            for (before, after) in [
                ("m", " v=1"), ("m,a", "=1 v=1"), ("m,a=", " v=1"), ("m v", "=1"),
                ("m v=\"", "\""), ("m v=\"long enough for words", "and more\""),
            ] {
                let line = Array(before.utf8) + bytes + Array(after.utf8)
                let input = try parse(Array("m v=1 1\n".utf8) + line + Array("\nm v=2 2".utf8))
                #expect(input.points.map(\.time) == [1, 2])
                #expect(input.refusals.first?.subject == .line(line))
                #expect(input.refusals.first?.reason == "invalid UTF-8")
                #expect(input.refusals.first?.column == before.utf8.count + 1)
            }
        }
    }

    @Test func `names have at most 65535 bytes`() throws {
        let long = String(repeating: "n", count: 65_535)
        #expect(try onePoint("\(long),\(long)=\(long) \(long)=1 1") != nil)
        for text in ["x\(long) v=1", "m,x\(long)=1 v=1", "m,a=x\(long) v=1", "m x\(long)=1"] {
            #expect(try refusal(text)?.contains("max key length exceeded: 65536") == true)
        }
    }

    @Test func `good lines around bad ones are kept`() throws {
        let input = try parse("m v=1 1\nbad\nm v=2 2\nm v= 3\r\nm v=4 4")
        #expect(input.points.map(\.time) == [1, 2, 4])
        #expect(input.refusals.map(\.line) == [2, 4])
        #expect(
            input.refusals.map(\.subject) == [
                .line(Array("bad".utf8)), .line(Array("m v= 3".utf8)),
            ])
        #expect(input.refusals.allSatisfy { $0.source == "test.lp" })
    }

    @Test func `a missing quote costs one line`() throws {
        let good = (2...5000).map { "m,a=b v=\($0),s=\"text\" \($0)" }.joined(separator: "\n")
        for start in ["m s=\"abc 1", "m s=\"abc,v=1 1", "m s=\"abc\\\" 1", "m v=1,s=\""] {
            let input = try parse("m v=0 0\n\(start)\n\(good)\n")
            #expect(input.points.map(\.time) == [0] + (2...5000))
            #expect(input.refusals.count == 1)
            #expect(input.refusals[0].subject == .line(Array(start.utf8)))
            #expect(input.refusals[0].reason.hasPrefix("unbalanced quotes"))
            let open = try #require(start.firstIndex(of: "\""))
            #expect(
                input.refusals[0].column == start.utf8.distance(from: start.startIndex, to: open)
                    + 1)
        }
        let noQuotes = (2...200_000).map { "m v=\($0) \($0)" }.joined(separator: "\n")
        let input = try parse("m s=\"abc 1\n\(noQuotes)")
        #expect(input.points.count == 199_999 && input.refusals.count == 1)
    }

    @Test func `strings and lines have limits`() throws {
        var options = LineProtocolParser.Options()
        options.stringSizeBytesMax = 100
        let full = String(repeating: "x", count: 100)
        #expect(try onePoint("m s=\"\(full)\" 1", options: options) != nil)
        let input = try parse("m s=\"\(full)x\" 1\nm v=1 1", options: options)
        #expect(input.points.count == 1)
        #expect(input.refusals.first?.reason == "a string of more than 100 bytes")
        let long = String(repeating: "x", count: LineProtocolParser.lineSizeBytesMax + 5_000_000)
        let overlong = try parse("m v=1 1\nm,a=\(long) v=2 2\nm v=3 3")
        #expect(overlong.points.map(\.time) == [1, 3])
        #expect(overlong.refusals.map(\.line) == [2])
        guard case .line(let kept) = overlong.refusals.first?.subject else { return }
        #expect(kept.count == Refusal.lineSizeBytesMax)
    }

    @Test func `points are there as soon as their lines are, however they arrive`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let values = [
            "1", "-2.5", "3i", "t", "FALSE", "\"x\"", "\"a\nb\"", "\"\"", "\"a,b=\nc d\"",
            "\"\\\"\n\\\\\"", "\"\\n\n\"", "\"\n=\n \"",
        ]
        let keys = ["a", "b", "c\\ d", "e\\=f", "g\"h", "\"", "i\\,j"]
        for round in 0..<300 {
            var text = ""
            for time in 0..<Int.random(in: 1...6, using: &random) {
                let series = ["m", "m,t=\"", "m,t=a\\ b,u=\\\"", "\"m\\,"].randomElement(
                    using: &random)!
                let fields = (0...Int.random(in: 0...5, using: &random)).map { _ in
                    keys.randomElement(using: &random)! + "=" + values.randomElement(
                        using: &random)!
                }
                text += "\(series) \(fields.joined(separator: ","))"
                text += ["", " \(time)", " \(time) "].randomElement(using: &random)!
                text += ["\n", "\r\n", "\n\n", "\n# \"\n"].randomElement(using: &random)!
            }
            let bytes = Array(text.utf8)
            var parser = LineProtocolParser()
            var batch = WriteBatch()
            var end = 0
            while end < bytes.count {
                let start = end
                end = min(bytes.count, start + Int.random(in: 1...9, using: &random))
                parser.append(bytes.span.extracting(start..<end))
                _ = try parser.parse(into: &batch, points: 1000)
                var fresh = LineProtocolParser()
                var whole = WriteBatch()
                fresh.append(bytes.span.extracting(0..<end))
                _ = try fresh.parse(into: &whole, points: 1000)
                try #require(
                    batch.rowCount == whole.rowCount && batch.refusals.isEmpty,
                    "seed \(seed), round \(round): \(text.prefix(end))")
            }
        }
    }

    @Test func `a line is answered after many pieces of it`() throws {
        for count in [40, 41, 51, 100, 1000] {
            var parser = LineProtocolParser()
            var batch = WriteBatch()
            let pieces = ["m note=\""] + (0..<count).map { "line \($0)\n" } + ["end\" 1\n"]
            for piece in pieces {
                #expect(batch.isEmpty)
                parser.append(Array(piece.utf8).span)
                _ = try parser.parse(into: &batch, points: 10)
            }
            #expect(batch.rowCount == 1, "\(count)")
        }
    }

    @Test(arguments: [
        ["m f=\"abc 1\n", "m g=\"a,b=\" 2\n", "m v=3 3\n", "m v=4 4\n"],
        ["m f=\"a\n", "b\",g=abc,h=\"c\n", "m v=3 3\n"],
        ["m f=\"a\n", "b\",g=1x,h=\"c\n", "m v=3 3\n"],
        ["m f=\"a\n", "b\"x,h=\"c\n", "m v=3 3\n"],
        ["m f=\"a\n", "b\",=1,h=\"c\n", "m v=3 3\n"],
    ])
    func `lines behind a bad one are not held back`(pieces: [String]) throws {
        var parser = LineProtocolParser()
        var batch = WriteBatch()
        var text = ""
        for piece in pieces {
            parser.append(Array(piece.utf8).span)
            _ = try parser.parse(into: &batch, points: 100)
            text += piece
            var fresh = LineProtocolParser()
            var whole = WriteBatch()
            fresh.append(Array(text.utf8).span)
            _ = try fresh.parse(into: &whole, points: 100)
            #expect(batch.rowCount == whole.rowCount, "\(text)")
            #expect(batch.refusals.map(\.reason) == whole.refusals.map(\.reason), "\(text)")
        }
        #expect(batch.rowCount > 0)
    }

    @Test func `what the caller did to an empty batch stays`() throws {
        var parser = LineProtocolParser()
        var batch = WriteBatch()
        let experiment = batch.experiment("m".utf8.span)
        batch.suggest(SchemaPreset(name: "own", fields: []), experiment: experiment)
        parser.append(Array("m v=1 1\n".utf8).span)
        _ = try parser.parse(into: &batch, points: 100)
        #expect(batch.suggestedPresets.count == 1)
    }

    @Test func `a line without a byte order mark needs no third byte`() throws {
        var parser = LineProtocolParser()
        var batch = WriteBatch()
        parser.append(Array("x\n".utf8).span)
        _ = try parser.parse(into: &batch, points: 10)
        #expect(batch.refusals.count == 1)
    }

    @Test func `points of other databases leave nothing in the batch`() throws {
        var options = LineProtocolParser.Options()
        options.database = "b"
        var parser = LineProtocolParser(options: options)
        var batch = WriteBatch()
        parser.append(Array("# DML\n# CONTEXT-DATABASE:a\n".utf8).span)
        for number in 0..<1000 {
            parser.append(Array("m s=\"text \(number)\" 1\n".utf8).span)
            _ = try parser.parse(into: &batch, points: 10)
            #expect(batch.strings.count <= 1)
        }
        #expect(parser.skippedPoints == 1000)
    }

    @Test func `the participant of the options fills in for a missing tag`() throws {
        var options = LineProtocolParser.Options()
        options.participant = "p1"
        let input = try parse("m,z=1 v=1 1\nm,id_participant=p2 v=1 2\nm v=1 3", options: options)
        #expect(input.points.map { $0.tags["id_participant"] } == ["p1", "p2", "p1"])
        options.participantTag = "who"
        #expect(try onePoint("m,a=b v=1 1", options: options)?.tags == ["a": "b", "who": "p1"])
    }

    @Test func `batches end by points and numbers start anew`() throws {
        let lines = (0..<25).map { "m,a=\($0 % 3) f\($0 % 4)=\($0),s=\"x\" \($0)" }
        let text = Array(lines.joined(separator: "\n").utf8)
        #expect(try parse(text, batchRows: 4) == parse(text))
        #expect(try parse(text, batchRows: 1) == parse(text))
    }
}
