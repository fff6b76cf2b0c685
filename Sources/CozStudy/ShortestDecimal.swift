// The shortest decimal digits that read back as the same double, in the notations InfluxDB uses.

/// A finite double in decimal: 0.d1d2d3... times ten to the power of `point`.
///
/// The digits are the fewest that read back as the same number. Go and Swift choose the same ones.
public struct ShortestDecimal: Sendable {
    /// Whether the number has a minus sign. True for -0.
    public let isNegative: Bool
    /// ASCII digits without leading or trailing zeros. Empty for zero.
    public let digits: [UInt8]
    /// The position of the decimal point, relative to the start of the first digit.
    public let point: Int

    /// Converts a number.
    ///
    /// - Parameter value: must be finite.
    public init(_ value: Double) {
        precondition(value.isFinite, "NaN and infinity have no decimal digits")
        var digits: [UInt8] = []
        var point: Int?
        var exponent = 0
        var isNegative = false
        var text = value.description.utf8[...]
        if text.first == UInt8(ascii: "-") {
            isNegative = true
            text.removeFirst()
        }
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "."): point = digits.count
            case UInt8(ascii: "e"):
                exponent = Int(String(decoding: text, as: UTF8.self)) ?? 0
                text = text[text.endIndex...]
            default: digits.append(byte)
            }
        }
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        self.point = (point ?? digits.count) + exponent - leading
        digits.removeFirst(leading)
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        self.digits = digits
        self.isNegative = isNegative
    }

    /// The number as Go's `encoding/json` and InfluxDB's JSON print it: with an exponent below 1e-6
    /// and from 1e21, else without.
    public var json: String {
        let exponent = point - 1
        return exponent < -6 || exponent >= 21
            ? scientific(exponentDigitsMin: exponent < 0 ? 1 : 2) : plain
    }

    /// The number as Go's `%g` and `influx_inspect export` print it, such as `1.760495140864e+12`.
    public var general: String {
        let exponent = point - 1
        if digits.isEmpty { return plain }
        return exponent < -4 || exponent >= 6 ? scientific(exponentDigitsMin: 2) : plain
    }

    /// The number as Python's `repr` prints it: `74.0`, `1e-05`, `1e+16`.
    public var python: String {
        let exponent = point - 1
        if digits.isEmpty { return sign + "0.0" }
        if exponent < -4 || exponent >= 16 { return scientific(exponentDigitsMin: 2) }
        return point >= digits.count ? plain + ".0" : plain
    }

    private var sign: String { isNegative ? "-" : "" }

    private var plain: String {
        if digits.isEmpty { return sign + "0" }
        let zero = UInt8(ascii: "0")
        var text: [UInt8] = []
        if point <= 0 {
            text = [zero, UInt8(ascii: ".")] + [UInt8](repeating: zero, count: -point) + digits
        } else if point >= digits.count {
            text = digits + [UInt8](repeating: zero, count: point - digits.count)
        } else {
            text = digits
            text.insert(UInt8(ascii: "."), at: point)
        }
        return sign + String(decoding: text, as: UTF8.self)
    }

    private func scientific(exponentDigitsMin: Int) -> String {
        var text = digits
        if text.count > 1 { text.insert(UInt8(ascii: "."), at: 1) }
        let exponent = point - 1
        var size = String(exponent.magnitude)
        while size.count < exponentDigitsMin { size = "0" + size }
        return sign + String(decoding: text, as: UTF8.self) + (exponent < 0 ? "e-" : "e+") + size
    }
}
