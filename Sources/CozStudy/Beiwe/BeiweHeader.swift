// The header of a Beiwe file: its columns, and the streams that have such columns.

internal import CozDB
internal import CozImport

/// The column names of a file, without surrounding blanks, which old exports have.
struct BeiweHeader: Hashable {
    static let time = "timestamp"
    static let moment = "UTC time"
    static let survey = "survey id"
    static let question = "question id"

    /// Unique and not empty. A repeated name gets a number, such as `x_2`. A column without a name
    /// is called by its position, such as `column_3`.
    var names: [String]

    init(_ cells: [String]) {
        names = []
        var taken: Set<[UInt8]> = []
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

    /// Returns the field name of a column or question. A reserved name, with or without trailing
    /// underscores, gets one more underscore, so different names never collide.
    static func fieldName(_ name: String, besides reserved: [String]) -> String {
        var stem = name.utf8[...]
        while stem.last == UInt8(ascii: "_") { stem.removeLast() }
        let isReserved = reserved.contains { $0.utf8.elementsEqual(stem) }
        return isReserved ? name + "_" : name
    }

    /// Parses the header in the first bytes of a file. Returns nil if the first line is empty.
    init?(head: [UInt8]) {
        var line = head.prefix { $0 != UInt8(ascii: "\n") }
        if line.starts(with: "\u{FEFF}".utf8) { line = line.dropFirst(3) }
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        guard !line.isEmpty else { return nil }
        self.init(
            line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) })
    }

    var hasTime: Bool { names.contains(BeiweHeader.time) }

    var isAnswers: Bool {
        names.first == BeiweHeader.question && names.last == "answer" && !hasTime
    }

    /// Whether a file with this header may come from Beiwe.
    var isBeiwe: Bool { isAnswers || hasTime && names.count > 1 }

    /// Whether a file with this header can only come from Beiwe. Only its server puts a text time
    /// after the numeric one.
    var isCertainlyBeiwe: Bool {
        isAnswers || names.prefix(2) == [BeiweHeader.time, BeiweHeader.moment]
    }

    /// The columns that are specific to the stream.
    var ownNames: Set<String> {
        Set(names).subtracting([BeiweHeader.time, BeiweHeader.moment, BeiweHeader.survey])
    }

    /// The streams with exactly these columns, on either iOS or Android.
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

    /// Whether the header fits a stream. It must have one of the stream's columns, if those are
    /// known, and must not be the header of another stream.
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
    /// Returns why the rows cannot be read as those of a stream, or nil if they can.
    func problem(_ stream: String) -> String? {
        let found = names.joined(separator: ",")
        let shown = found.utf8.count > 200 ? "\(found.prefix(200))..." : found
        let sizes = 1...DatabaseOptions.nameSizeBytesMax
        if let name = names.first(where: { !sizes.contains($0.utf8.count) }) {
            return "found a column name of \(name.utf8.count) bytes in the header, expected 1 to "
                + "\(sizes.upperBound) bytes"
        }
        if let first = names.first?.utf8, first.count > 8, first.allSatisfy({ $0 &- 0x30 < 10 }) {
            return "found \"\(shown)\" at the start of the file, expected a header with column "
                + "names"
        }
        if fits(stream) { return nil }
        let known = BeiweStream.named(stream)?.columns.map(\.name) ?? []
        let expected =
            stream == BeiweStream.surveyAnswers.name
            ? "question id,question type,question text,question answer options,answer"
            : ([BeiweHeader.time, BeiweHeader.moment] + known).joined(separator: ",")
        return "found the header \"\(shown)\", expected that of \(stream): \(expected)"
    }
}
