// Quotes words so that users can copy them from a message into a shell.

enum ShellText {
    static func quoted(_ word: String) -> String {
        let plain = "-_./:@%+=,"
        let isPlain = word.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || plain.unicodeScalars.contains($0))
                || ("0"..."9").contains($0)
        }
        if isPlain, !word.isEmpty { return word }
        // By scalar: a quote followed by a combining mark is one Character.
        var text = "'"
        for scalar in word.unicodeScalars {
            if scalar == "'" { text += "'\\''" } else { text.unicodeScalars.append(scalar) }
        }
        return text + "'"
    }
}
