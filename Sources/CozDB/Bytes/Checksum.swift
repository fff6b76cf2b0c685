func checksum(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
    var c = ~seed
    for i in 0..<bytes.count { c ^= UInt32(bytes[i]); for _ in 0..<8 { c = (c >> 1) ^ ((c & 1) == 1 ? 0x82F6_3B78 : 0) } }
    return ~c
}
func positionSeed(file: UInt64, offset: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: (file &* 31 &+ offset) &* 0x9E37_79B9_7F4A_7C15 >> 32)
}
