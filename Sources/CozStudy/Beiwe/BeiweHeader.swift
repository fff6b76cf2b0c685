// The first line of a Beiwe file: which columns it has, and whose they can be.

internal import CozDB
internal import CozImport

/// The columns of a file by name; blanks around names are dropped, as old exports have them.
struct BeiweHeader: Hashable {
    static let time = "timestamp"
    static let moment = "UTC time"
    static let survey = "survey id"
    static let question = "question id"

    /// Not empty; a name that came before has a number behind it, `x_2`, and a column without a
    /// name is called by its place, `column_3`.
    var names: [String]

    /// - Parameter cells: as they came.
    init(_ cells: [String]) {
        names = []
        var taken: Set<[UInt8]> = []
        // The next number to try for a name: those below are taken.
        var numbers: [[UInt8]: Int] = [:]
        for (index, cell) in cells.enumerated() {
            let trimmed = BeiweHeader.trimmed(cell)
            let name = BeiweHeader.fieldName(
                trimmed.isEmpty ? "column_\(index + 1)" : trimmed, besides: ["time"])
            var unique = name
            var number = numbers[Array(name.utf8)] ?? 2
            while !taken.insert(Array(unique.utf8)).inserted {
                unique = "\(name)_\(number)"
                number += 1
            }
            numbers[Array(name.utf8)] = number
            names.append(unique)
        }
    }

    /// The field of a column or question: one that has a reserved name, or a reserved name and
    /// underscores, gets one underscore more. So no two of them get the same field, whatever else
    /// a file has.
    static func fieldName(_ name: String, besides reserved: [String]) -> String {
        var stem = name.utf8[...]
        while stem.last == UInt8(ascii: "_") { stem.removeLast() }
        let isReserved = reserved.contains { $0.utf8.elementsEqual(stem) }
        return isReserved ? name + "_" : name
    }

    /// The header in the first bytes of a file; nil where there is no text.
    init?(head: [UInt8]) {
        var line = head.prefix { $0 != UInt8(ascii: "\n") }
        if line.starts(with: "\u{FEFF}".utf8) { line = line.dropFirst(3) }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard !line.isEmpty else { return nil }
        self.init(
            line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) })
    }

    /// Whether the rows have a time of their own.
    var hasTime: Bool { names.contains(BeiweHeader.time) }

    /// Whether it is that of answers to a survey.
    var isAnswers: Bool {
        names.first == BeiweHeader.question && names.last == "answer" && !hasTime
    }

    /// Whether a file that begins so can be one of Beiwe.
    var isBeiwe: Bool { isAnswers || hasTime && names.count > 1 }

    /// Whether a file that begins so can be nothing else: the server puts the moment in words
    /// behind the time.
    var isCertainlyBeiwe: Bool {
        isAnswers || names.prefix(2) == [BeiweHeader.time, BeiweHeader.moment]
    }

    /// The columns beside those that every stream has.
    var ownNames: Set<String> {
        Set(names).subtracting([BeiweHeader.time, BeiweHeader.moment, BeiweHeader.survey])
    }

    /// The streams whose columns these are, all of them or those of one system.
    var candidates: [String] {
        if isAnswers { return [BeiweStream.surveyAnswers.name] }
        let made = [BeiweStream.surveyQuestions.name, BeiweStream.surveyAnswers.name]
        let ownNames = ownNames
        return BeiweStream.all.filter { stream in
            if made.contains(stream.name) { return false }
            let known = stream.columns.map(\.name)
            let missing = Set(known).subtracting(ownNames)
            return ownNames.isSubset(of: known)
                && missing.isSubset(of: BeiweHeader.optional[stream.name] ?? [])
        }.map(\.name)
    }

    /// Columns that only one of iOS and Android has.
    private static let optional: [String: Set<String>] = [
        "gyro": ["accuracy"], "power_state": ["level"], "survey_timings": ["event"],
    ]

    /// Whether the header can be that of a stream: it has one of its columns, where those are
    /// known at all, and is not that of another stream.
    func fits(_ stream: String) -> Bool {
        if stream == BeiweStream.surveyAnswers.name { return isAnswers }
        guard hasTime else { return false }
        guard let known = BeiweStream.named(stream)?.columns else { return true }
        let (candidates, ownNames) = (candidates, ownNames)
        return known.contains { ownNames.contains($0.name) }
            && (candidates.isEmpty || candidates.contains(stream))
    }

    private static func trimmed(_ text: String) -> String {
        var bytes = text.utf8[...]
        let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        while let first = bytes.first, blanks.contains(first) { bytes.removeFirst() }
        while let last = bytes.last, blanks.contains(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension BeiweHeader {
    /// Why rows below this header cannot be read as those of a stream; nil: they can.
    func problem(_ stream: String) -> String? {
        let found = names.joined(separator: ",")
        let shown = found.utf8.count > 200 ? "\(found.prefix(200))..." : found
        let sizes = 1...DatabaseOptions.nameSizeBytesMax
        if let name = names.first(where: { !sizes.contains($0.utf8.count) }) {
            return "the header has a column name of \(name.utf8.count) bytes; expected 1 to "
                + "\(sizes.upperBound)"
        }
        if let first = names.first?.utf8, first.count > 8, first.allSatisfy({ $0 &- 0x30 < 10 }) {
            return "the file begins with \"\(shown)\"; expected a header with the names of columns"
        }
        if fits(stream) { return nil }
        let known = BeiweStream.named(stream)?.columns.map(\.name) ?? []
        let expected =
            stream == BeiweStream.surveyAnswers.name
            ? "question id,question type,question text,question answer options,answer"
            : ([BeiweHeader.time, BeiweHeader.moment] + known).joined(separator: ",")
        return "the header \"\(shown)\" is none of \(stream); expected \(expected)"
    }
}
