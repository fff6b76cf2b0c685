// The checksum of blocks, records and headers: CRC32C (Castagnoli), in hardware where available. It
// detects accidental corruption, not forgery. See docs/format/README.md for what it covers.

internal import CozKernels

/// Returns the CRC32C of the bytes.
///
/// - Parameter seed: The checksum of the preceding bytes, or a `positionSeed`.
func checksum(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
    guard isChecksumInstructionAvailable else { return tableChecksum(bytes, seed: seed) }
    // Sound: the kernel reads exactly the bytes of the buffer, which is valid during the call.
    return unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe coz_crc32c(buffer.baseAddress, buffer.count, seed)
    }
}

/// Returns a seed for a file and offset. With it, a block found at another offset or in another
/// file than it was written to fails its checksum.
func positionSeed(file: UInt64, offset: UInt64) -> UInt32 {
    var state = file &* 0x9E37_79B9_7F4A_7C15 ^ offset
    state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
    return UInt32(truncatingIfNeeded: state ^ (state >> 31))
}

/// Computes `checksum` byte by byte, for processors without the instruction.
func tableChecksum(_ bytes: Span<UInt8>, seed: UInt32 = 0) -> UInt32 {
    let table = checksumTable
    var checksum = ~seed
    for index in bytes.indices {
        let entry = Int(truncatingIfNeeded: (checksum ^ UInt32(bytes[index])) & 0xFF)
        checksum = table[entry] ^ (checksum >> 8)
    }
    return ~checksum
}

private let isChecksumInstructionAvailable = coz_crc32c_is_available()

/// The CRC table; 0x82F63B78 is the bit-reversed polynomial.
private let checksumTable: [UInt32] = (0..<256).map { byte in
    var entry = UInt32(byte)
    for _ in 0..<8 { entry = entry & 1 == 1 ? (entry >> 1) ^ 0x82F6_3B78 : entry >> 1 }
    return entry
}
