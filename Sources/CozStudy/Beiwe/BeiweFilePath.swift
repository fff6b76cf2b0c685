// Parses the path of a file: patient, stream, survey, and the time when a survey was sent.

internal import CozDB
internal import CozImport

/// The place of a file in an export: `<patient>/<stream>/<time>.csv`, or
/// `<patient>/<stream>/<survey>/<time>.csv` for surveys.
struct BeiweFilePath {
    /// The name of the stream and its experiment. Nil for a file outside an export's folders.
    var stream: String?
    /// Nil for a file outside an export's folders.
    var patient: String?
    var survey: String?
    /// The time in the file name, in milliseconds since 1970. Nil if there is none.
    var milliseconds: Int64?

    /// The accepted file times. The upper bound leaves room for all surveys of one second.
    private static let range: ClosedRange<Int64> = 0...9_000_000_000_000

    /// - Parameters:
    ///   - path: of the file. It begins with `folder`.
    ///   - folder: the folder being imported. Nil if the file was named directly.
    init(path: String, folder: String?) {
        let parts = BeiweFilePath.parts(path)
        milliseconds = BeiweFilePath.milliseconds(inName: parts.last ?? "")
            .flatMap { BeiweFilePath.range.contains($0) ? $0 : nil }
        let folders = parts.dropLast()
        let below = folder.map { BeiweFilePath.parts($0).count } ?? folders.count
        guard let index = BeiweFilePath.streamIndex(folders, below: below) else {
            // For a stream that is not in the table, take the last folder if a patient folder
            // contains it.
            guard let last = folders.indices.last, last > 0, last >= below,
                BeiweFilePath.isIdentifier(folders[last - 1])
            else { return }
            patient = folders[last - 1]
            stream = folders[last]
            return
        }
        stream = BeiweStream.named(folders[index])?.name
        if index + 1 < folders.count, let stream, BeiweFilePath.isSurvey(stream) {
            survey = folders[index + 1]
        }
        // A parent folder outside the imported folder may be anything.
        guard index > 0 else { return }
        let name = folders[index - 1]
        if index - 1 >= below || BeiweFilePath.isIdentifier(name) { patient = name }
    }

    static func isSurvey(_ stream: String) -> Bool {
        stream == BeiweStream.surveyAnswers.name || stream == BeiweStream.surveyTimings.name
    }

    /// Returns the index of the last folder that is named like a stream. It must contain the file
    /// directly or through a survey folder, or lie within the imported folder.
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

    /// Whether a name looks like a Beiwe patient ID: eight lowercase letters and digits.
    private static func isIdentifier(_ name: String) -> Bool {
        name.utf8.count == 8
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Splits a path at slashes. Drops empty parts and `.`.
    private static func parts(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
            .filter { $0 != "." }
    }

    // MARK: Time in the file name

    /// Parses the time in a file name to milliseconds since 1970. Returns nil if there is none.
    ///
    /// - `2022-03-14 16_32_56+00_00.csv`. Old exports have no offset and mean UTC. `_2` may follow
    ///   if two files had the same name.
    /// - Thirteen digits: milliseconds, as the phone names its files.
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
