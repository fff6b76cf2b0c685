// Characters that represent numbers in a terminal.

internal import CozPlatform

struct Glyphs {
    /// A day without values.
    let zero: Character
    /// From few to many.
    let shades: [Character]
    /// From low to high.
    let bars: [Character]

    static let unicode = Glyphs(
        zero: "·", shades: Array("░▒▓█"), bars: Array("▁▂▃▄▅▆▇█"))
    static let ascii = Glyphs(
        zero: ".", shades: Array("-+*#"), bars: Array("_.:-=+*#"))

    /// Chooses ASCII for terminals whose locale is not UTF-8. Files and pipes get UTF-8, as from
    /// all other commands.
    static func forOutput(isASCII: Bool, _ environment: (String) -> String?) -> Glyphs {
        if isASCII { return .ascii }
        guard Terminal.isTerminal(STDOUT_FILENO) else { return .unicode }
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        return name.contains("utf-8") || name.contains("utf8") ? .unicode : .ascii
    }
}

/// Maps counts to shades: each shade is a quarter of the scale, and the last one is open-ended. The
/// scale ends at the 90th percentile of the nonzero counts, so that one outlier does not make all
/// other days pale.
struct ShadeScale {
    let glyphs: Glyphs
    /// The 90th percentile, where the scale ends.
    private let full: Int
    private let most: Int

    /// - Parameter counts: The counts of all cells; zeros are ignored.
    init(_ counts: some Sequence<Int>, _ glyphs: Glyphs) {
        self.glyphs = glyphs
        let sorted = counts.filter { $0 > 0 }.sorted()
        most = sorted.last ?? 0
        full = sorted.isEmpty ? 0 : sorted[(sorted.count * 9 + 9) / 10 - 1]
    }

    private func level(_ count: Double) -> Int {
        guard full > 0 else { return 0 }
        let quarters = (count * Double(glyphs.shades.count) / Double(full)).rounded(.up)
        return Int(max(1, min(quarters, Double(glyphs.shades.count)))) - 1
    }

    /// The shade of a count or a mean of counts.
    func character(_ count: Double) -> Character {
        count > 0 ? glyphs.shades[level(count)] : glyphs.zero
    }

    /// The legend: `· none  ░ 1  ▒ 2-3  ▓ 4  █ 5 or more`.
    var legend: String {
        var parts = ["\(glyphs.zero) none"]
        let count = glyphs.shades.count
        var first = 1
        for (index, shade) in glyphs.shades.enumerated() where full > 0 {
            let isLast = index == count - 1
            // Use floats: the product of a large count could overflow.
            let last = isLast ? full : Int(Double(full) / Double(count) * Double(index + 1))
            guard last >= first else { continue }
            let range = first == last ? "\(first)" : "\(first)-\(last)"
            parts.append("\(shade) " + (isLast && most > full ? "\(first) or more" : range))
            first = last + 1
        }
        return parts.joined(separator: "  ")
    }
}
