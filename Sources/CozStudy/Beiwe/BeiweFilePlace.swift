// What the path of a file says: patient, stream, survey, and the moment a survey was sent.

internal import CozDB
internal import CozImport

/// Where a file stands in an export: `<patient>/<stream>/<time>.csv`, for surveys
/// `<patient>/<stream>/<survey>/<time>.csv`.
struct BeiweFilePlace {
    /// Name of the stream, as its experiment is called; nil for a loose file.
    var stream: String?
    /// nil for a loose file.
    var patient: String?
    var survey: String?
    /// Milliseconds since 1970 in the file's name; nil where it has none.
    var milliseconds: Int64?

    /// Times of files, with room behind them for all the surveys of one second.
    private static let range: ClosedRange<Int64> = 0...9_000_000_000_000

    /// - Parameters:
    ///   - path: of the file, which begins with that of the folder.
    ///   - folder: that was walked; nil where the file was named itself.
    init(path: String, folder: String?) {
        let parts = BeiweFilePlace.parts(path)
        milliseconds = BeiweFilePlace.milliseconds(inName: parts.last ?? "")
            .flatMap { BeiweFilePlace.range.contains($0) ? $0 : nil }
        let folders = parts.dropLast()
        let below = folder.map { BeiweFilePlace.parts($0).count } ?? folders.count
        guard let index = BeiweFilePlace.streamIndex(folders, below: below) else {
            // A stream that is not in the table: the last folder, below that of a patient.
            guard let last = folders.indices.last, last > 0, last >= below,
                BeiweFilePlace.isIdentifier(folders[last - 1])
            else { return }
            patient = folders[last - 1]
            stream = folders[last]
            return
        }
        stream = BeiweStream.named(folders[index])?.name
        if index + 1 < folders.count, let stream, BeiweFilePlace.isSurvey(stream) {
            survey = folders[index + 1]
        }
        // Where the folder above is not part of what was walked, it may be anything.
        guard index > 0 else { return }
        let name = folders[index - 1]
        if index - 1 >= below || BeiweFilePlace.isIdentifier(name) { patient = name }
    }

    static func isSurvey(_ stream: String) -> Bool {
        stream == BeiweStream.surveyAnswers.name || stream == BeiweStream.surveyTimings.name
    }

    /// The last folder with the name of a stream: the file's own, above it that of a survey, and
    /// anywhere in what was walked.
    private static func streamIndex(_ folders: ArraySlice<String>, below: Int) -> Int? {
        for index in folders.indices.reversed() {
            guard let stream = BeiweStream.named(folders[index]) else { continue }
            let depth = folders.count - 1 - index
            if depth == 0 || (depth == 1 && isSurvey(stream.name)) || index >= below {
                return index
            }
        }
        return nil
    }

    /// Whether a name looks like those that Beiwe gives its patients: eight small letters and
    /// digits.
    private static func isIdentifier(_ name: String) -> Bool {
        name.utf8.count == 8
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Folders and file; `.` and empty ones are none.
    private static func parts(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
            .filter { $0 != "." }
    }

    // MARK: Time in the name

    /// `2022-03-14 16_32_56+00_00.csv`, in old exports without the offset (then UTC), perhaps with
    /// `_2` behind it where a name came twice; or the milliseconds themselves, as the phone names
    /// its files.
    static func milliseconds(inName name: String) -> Int64? {
        let bytes = Array(name.utf8)
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        if digits.count == 13 { return Int64(String(decoding: digits, as: UTF8.self)) }
        var text = Array(bytes.prefix(19))
        guard text.count == 19, text[10] == UInt8(ascii: " "), text[13] == UInt8(ascii: "_"),
            text[16] == UInt8(ascii: "_")
        else { return nil }
        text[10] = UInt8(ascii: "T")
        text[13] = UInt8(ascii: ":")
        text[16] = UInt8(ascii: ":")
        let rest = Array(bytes.dropFirst(19))
        let sign = rest.first ?? 0
        if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            guard rest.count >= 6, rest[3] == UInt8(ascii: "_") else { return nil }
            text += rest[0..<3] + [UInt8(ascii: ":")] + rest[4..<6]
        }
        return Timestamp(String(decoding: text, as: UTF8.self)).map { $0.nanoseconds / 1_000_000 }
    }
}
