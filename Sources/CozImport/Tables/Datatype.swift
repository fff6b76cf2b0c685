// Datatypes and time zones of annotated CSV. TableAnnotations.swift names the source.

internal import CozDB

enum Datatype {
    /// Applies a datatype to a column: role, type, notation, and a default value after a `|`.
    ///
    /// - Returns: whether the datatype is known.
    /// - Throws: a reason, for a boolean format that cannot be parsed.
    static func apply(
        datatype: [UInt8], to column: inout TableColumn
    ) throws(TableProblem) -> Bool {
        var text = datatype[...]
        if let bar = text.firstIndex(of: UInt8(ascii: "|")), bar > 0 {
            column.defaultValue = Array(text[(bar + 1)...])
            text = text[..<bar]
        }
        var format: ArraySlice<UInt8> = []
        if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            format = text[(colon + 1)...]
            text = text[..<colon]
        }
        column.role = .field
        switch String(decoding: text, as: UTF8.self) {
        case "measurement": column.role = .experiment
        case "tag": column.role = .tag
        case "dateTime", "time":
            column.role = .time
            column.timeFormat = timeFormat(String(decoding: format, as: UTF8.self))
        case "field", "": column.type = nil
        case "ignore", "ignored": column.role = .ignored
        case "string", "base64Binary": column.type = .string
        case "double":
            column.type = .float
            if !format.isEmpty { column.notation = numberNotation(format) }
        case "long":
            column.type = .integer
            if !format.isEmpty { column.notation = numberNotation(format) }
        case "unsignedLong":
            column.type = .integer
            column.notation = .unsigned
        case "duration":
            column.type = .integer
            column.notation = .duration
        case "boolean":
            column.type = .boolean
            column.notation = try booleanNotation(format)
        default: return false
        }
        return true
    }

    /// Returns the format of a `dateTime` column; nil: a number or RFC 3339.
    private static func timeFormat(_ format: String) -> TableTimeFormat? {
        switch format {
        case "": nil
        case "number": .automatic
        case "RFC3339", "RFC3339Nano": .rfc3339
        default: .pattern(TimePattern(goLayout: format))
        }
    }

    /// Parses the decimal separator and the characters to ignore: `,.` reads 1.234,5.
    private static func numberNotation(_ format: ArraySlice<UInt8>) -> TableColumn.Notation {
        .number(decimal: format.first ?? UInt8(ascii: "."), ignored: Array(format.dropFirst()))
    }

    /// Parses a boolean format such as `true,yes,1:false,no,0`.
    private static func booleanNotation(
        _ format: ArraySlice<UInt8>
    ) throws(TableProblem) -> TableColumn.Notation {
        if format.isEmpty { return .words }
        guard let colon = format.firstIndex(of: UInt8(ascii: ":")) else {
            let text = String(decoding: format, as: UTF8.self)
            throw TableProblem(
                "found boolean:\(text), expected words for true and false, such as "
                    + "boolean:y,yes:n,no")
        }
        let comma = UInt8(ascii: ",")
        let yes = format[..<colon].split(separator: comma).map { Array($0) }
        let no = format[(colon + 1)...].split(separator: comma).map { Array($0) }
        return .boolean(true: yes, false: no)
    }

    /// Parses a name of the tz database or an offset such as `+0200`; nil: UTC.
    static func zone(_ name: String) throws(TableProblem) -> TimeZoneRules? {
        if name.isEmpty { return nil }
        do {
            if let sign = name.utf8.first, sign == 0x2B || sign == 0x2D {
                return try TimeZoneRules(offset: name)
            }
            return try TimeZoneRules(named: name.lowercased() == "local" ? "Local" : name)
        } catch {
            throw TableProblem("time zone \"\(name)\": \(error.message)")
        }
    }
}
