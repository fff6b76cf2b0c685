// What writing answers costs grows in proportion to their columns.

internal import CozStudy
internal import CozTestSupport
internal import Testing

@testable internal import CozCommand
@testable internal import CozDB

struct OutputGrowthTests {
    @Test func `a survey of many questions is checked and shown`() {
        let growth = Growth(from: 200) { size in
            let questions = (0..<size).map { number in
                """
                {"question": "How?", "question_id": "q\(number)", "response_options": [
                {"text": "So", "icon": "", "icon_background_color": "", "use_sf_symbols": false,
                "sf_symbols_color": "", "next_question_id": "q\(number + 1)"}]}
                """
            }
            return """
                {"survey_name": "Test", "survey_id": "t",
                "survey": [\(questions.joined(separator: ","))]}
                """
        } _: { text in
            _ = SurveyText.table(SurveyCheck(text), of: "file")
        }
        #expect(growth.isLinear, "\(growth)")
    }

    private func header(columns: Int, tags: Int) -> ResultHeader {
        var header = ResultHeader()
        header.name = "dev"
        header.columns = (0..<columns).map {
            ResultHeader.Column(title: "f\($0)", kind: .field(.string))
        }
        header.tags = (0..<tags).map { ("t\($0)", "x") }
        return header
    }

    @Test func `a header of many columns and tags`() {
        let growth = Growth(from: 300) {
            header(columns: $0, tags: $0)
        } _: { header in
            #expect(header.leadingColumns.count == header.tags.count)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a leading tag gets a name that no column and no tag has`() {
        var header = header(columns: 2, tags: 0)
        header.columns.append(ResultHeader.Column(title: "shown", kind: .tag))
        header.columns.append(ResultHeader.Column(title: "other", kind: .tag, source: "t"))
        header.tags = [("f0", "a"), ("f0_1", "b"), ("shown", "c"), ("other", "d"), ("t", "e")]
        #expect(header.leadingColumns.map(\.name) == ["f0_2", "f0_1", "other_1", "t"])
    }

    @Test func `an answer with many questions`() {
        let growth = Growth(from: 300) { size in
            let declarations = (0..<size).map {
                SchemaPreset.Field("f\($0)", .string, question: "How?")
            }
            var schema = ExperimentSchema(
                id: 0, name: "dev", identity: .standard, typeRule: .lossless, preset: "none")
            schema.presetDeclarations = FieldDeclarations(
                SchemaPreset(name: "asked", fields: declarations))
            return (header(columns: size, tags: 0), schema)
        } _: { header, schema in
            let output = OutputWriter(descriptor: nil)
            let format = QuestionFormat(
                CSVFormat(output, TimeText(style: .shortest)), output, .titles)
            format.schemas = [schema]
            format.beginStatement(0)
            format.beginSeries(header)
            #expect(String(decoding: output.collected, as: UTF8.self).contains("f299: How?"))
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
