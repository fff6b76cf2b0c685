// Counts the answers to all questions of an experiment while one statement streams its rows.

internal import CozDB

/// Counts rows and surveys for each answer. Its statement groups by participant, because surveys of
/// two participants may begin at the same time.
struct AnswerCounter: QueryResultSink {
    /// A survey in which a participant gave an answer.
    private struct Vote: Hashable {
        var question: Int
        var answer: Int
        var start: Int
    }

    /// The counts of each question, in order of first appearance.
    private(set) var counts: [[SurveyAnswers.Count]]
    let statement: String

    let countsSurveys: Bool
    /// The places of the answers of each question.
    private var places: [[[UInt8]: Int]]
    /// The start times of the current participant, numbered.
    private var starts: [[UInt8]: Int] = [:]
    private var votes: Set<Vote> = []

    private static let start = "ws_timestamp_start"

    /// - Parameter questions: string fields of the experiment.
    init(_ questions: [String], in schema: ExperimentSchema) {
        counts = Array(repeating: [], count: questions.count)
        places = Array(repeating: [:], count: questions.count)
        countsSurveys = schema.field(AnswerCounter.start) != nil
        let names = questions + (countsSurveys ? [AnswerCounter.start] : [])
        statement =
            "SELECT " + names.map { QueryText.name($0) + "::field" }.joined(separator: ", ")
            + " FROM \(QueryText.name(schema.name)) "
            + "GROUP BY \(QueryText.name(schema.identity.participantTag))"
    }

    mutating func beginStatement(_ index: Int) {}

    mutating func beginSeries(_ series: ResultSeries) {
        starts.removeAll(keepingCapacity: true)
        votes.removeAll(keepingCapacity: true)
    }

    mutating func rows(_ batch: ResultBatch) {
        var numbers = [Int?](repeating: nil, count: countsSurveys ? batch.count : 0)
        if countsSurveys, let vector = batch.columns.last {
            for row in 0..<batch.count where !vector.isNull(row) {
                let key = AnswerCounter.bytes(vector, row)
                let number = starts[key] ?? starts.count
                if number == starts.count { starts[key] = number }
                numbers[row] = number
            }
        }
        for question in counts.indices where batch.columns[question + 1].type != nil {
            let vector = batch.columns[question + 1]
            // The codes of a vector mean the same in all its rows.
            var known: [UInt64: Int] = [:]
            for row in 0..<batch.count where !vector.isNull(row) {
                let code = vector.bits(row)
                let answer = known[code] ?? place(of: vector, row, question)
                known[code] = answer
                counts[question][answer].rows += 1
                guard countsSurveys, let start = numbers[row] else { continue }
                let vote = Vote(question: question, answer: answer, start: start)
                if votes.insert(vote).inserted {
                    counts[question][answer].surveys = (counts[question][answer].surveys ?? 0) + 1
                }
            }
        }
    }

    mutating func endSeries() {}

    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if let error { throw error }
    }

    private mutating func place(of vector: ResultVector, _ row: Int, _ question: Int) -> Int {
        let key = AnswerCounter.bytes(vector, row)
        if let known = places[question][key] { return known }
        let place = counts[question].count
        places[question][key] = place
        counts[question].append(
            SurveyAnswers.Count(
                answer: String(decoding: key, as: UTF8.self), rows: 0,
                surveys: countsSurveys ? 0 : nil))
        return place
    }

    /// Returns the text of a string, or the bits of another value.
    private static func bytes(_ vector: ResultVector, _ row: Int) -> [UInt8] {
        guard vector.type == .string else {
            return (0..<8).map { UInt8(truncatingIfNeeded: vector.bits(row) >> ($0 * 8)) }
        }
        return vector.withText(row) { text in (0..<text.count).map { text[$0] } }
    }
}
