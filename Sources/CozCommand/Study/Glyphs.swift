// Characters that stand for numbers in a terminal.

internal import Glibc

/// A set of characters for shades and bars.
struct Glyphs {
    /// No value where one could be.
    let zero: Character
    /// From few to many.
    let shades: [Character]
    /// From low to high.
    let bars: [Character]

    static let unicode = Glyphs(
        zero: "·", shades: Array("░▒▓█"), bars: Array("▁▂▃▄▅▆▇█"))
    static let ascii = Glyphs(
        zero: ".", shades: Array("-+*#"), bars: Array("_.:-=+*#"))

    /// A terminal whose locale is not UTF-8 gets ASCII. Files and pipes get what every other
    /// output of the command is: UTF-8.
    static func forOutput(isASCII: Bool, _ environment: (String) -> String?) -> Glyphs {
        if isASCII { return .ascii }
        guard Terminal.isTerminal(STDOUT_FILENO) else { return .unicode }
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        return name.contains("utf-8") || name.contains("utf8") ? .unicode : .ascii
    }
}

/// How counts become shades: a quarter of the scale each, the last one open. The scale is the
/// count that nine of ten days with data do not exceed, so that one survey that was sent three
/// hundred times does not make all other days pale.
struct ShadeScale {
    let glyphs: Glyphs
    /// The count at which the darkest shade begins to be full.
    private let full: Int
    private let most: Int

    /// - Parameter counts: of all cells; those that are 0 do not matter.
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

    /// The shade of a count, which can be a mean.
    func character(_ count: Double) -> Character {
        count > 0 ? glyphs.shades[level(count)] : glyphs.zero
    }

    /// What the shades mean: `· none  ░ 1  ▒ 2-3  ▓ 4  █ 5 or more`.
    var legend: String {
        var parts = ["\(glyphs.zero) none"]
        let count = glyphs.shades.count
        var first = 1
        for (index, shade) in glyphs.shades.enumerated() where full > 0 {
            let isLast = index == count - 1
            // A quarter of a large count can be beyond what a product of integers holds.
            let last = isLast ? full : Int(Double(full) / Double(count) * Double(index + 1))
            guard last >= first else { continue }
            let range = first == last ? "\(first)" : "\(first)-\(last)"
            parts.append("\(shade) " + (isLast && most > full ? "\(first) or more" : range))
            first = last + 1
        }
        return parts.joined(separator: "  ")
    }
}
