// LZ4 blocks of very many zeros in very few bytes, which no compressor is needed for.

enum LZ4Bomb {
    /// A block that stands for some bytes and zeros behind them, none or more than 64.
    static func block(_ bytes: [UInt8], zeros: Int) -> [UInt8] {
        guard zeros > 64 else { return literals(bytes, matchSizeCode: 0) }
        // A zero as a literal, a match of all but the last five, which are literals again.
        let matchSize = zeros - 1 - 5
        var block = literals(bytes + [0], matchSizeCode: 15)
        block += [1, 0]
        block += extensions(matchSize - 4 - 15)
        return block + literals([0, 0, 0, 0, 0], matchSizeCode: 0)
    }

    private static func literals(_ bytes: [UInt8], matchSizeCode: UInt8) -> [UInt8] {
        if bytes.count < 15 { return [UInt8(bytes.count) << 4 | matchSizeCode] + bytes }
        return [0xF0 | matchSizeCode] + extensions(bytes.count - 15) + bytes
    }

    private static func extensions(_ count: Int) -> [UInt8] {
        [UInt8](repeating: 255, count: count / 255) + [UInt8(count % 255)]
    }
}
