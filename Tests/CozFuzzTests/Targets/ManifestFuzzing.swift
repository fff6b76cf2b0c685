// MANIFEST and LOCK beside the files of the sample.

@testable internal import CozDB

/// First byte: checksums as they are found (bit 0), LOCK as it is found (1); what is done: reading
/// (0 in bits 2 and 3), writing (1), repair (2). The rest: the last 1024 bytes are LOCK where there
/// are more.
enum ManifestFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        let lockSize = bytes.count > AcknowledgedState.sizeBytes ? AcknowledgedState.sizeBytes : 0
        var manifest = Array(bytes.dropLast(lockSize))
        var lock = Array(bytes.suffix(lockSize))
        if choice & 1 == 0 {
            mendManifest(&manifest)
            for offset in stride(from: 0, to: lock.count, by: AcknowledgedState.recordSizeBytes) {
                mendRecord(&lock, at: offset)
            }
        }
        let decoded = try? Manifest(decoding: manifest)
        if let decoded { try checkWriting(decoded) }
        if choice & 2 == 0, let decoded, var state = AcknowledgedState(lock) {
            state.databaseID = decoded.databaseID
            state.generation = decoded.generation
            state.manifestChecksum = decoded.fileChecksum
            lock = state.record(at: 0) + state.record(at: AcknowledgedState.recordSizeBytes)
        }
        var contents = Sample.files
        contents["db/MANIFEST"] = manifest
        if !lock.isEmpty { contents["db/LOCK"] = lock }
        let files = MemoryFiles(contents)
        switch choice >> 2 & 3 {
        case 0: try Sample.read(files)
        case 1: try Sample.change(files)
        default: try Sample.mend(files)
        }
    }

    private static func mendManifest(_ bytes: inout [UInt8]) {
        guard bytes.count >= Manifest.headerSizeBytes else { return }
        bytes.replaceSubrange(0..<8, with: Manifest.magic)
        bytes.put(UInt64(bytes.count - Manifest.headerSizeBytes), at: 16)
        bytes.put(Manifest.version, at: 8)
        let sum = checksum(
            bytes.span.extracting(Manifest.headerSizeBytes...), seed: Manifest.version)
        bytes.put(sum, at: 12)
    }

    /// docs/format/lock.md.
    private static func mendRecord(_ bytes: inout [UInt8], at offset: Int) {
        bytes.replaceSubrange(offset..<(offset + 8), with: Array("COZLCK\r\n".utf8))
        bytes.put(1 as UInt32, at: offset + 8)
        let sum = checksum(
            bytes.span.extracting((offset + 16)..<(offset + AcknowledgedState.recordSizeBytes)),
            seed: positionSeed(file: 1, offset: UInt64(offset)))
        bytes.put(sum, at: offset + 12)
    }

    /// What was understood is written so that it is understood the same.
    private static func checkWriting(_ manifest: Manifest) throws(FuzzFailure) {
        let written = manifest.encoded()
        guard let again = try? Manifest(decoding: written) else {
            throw FuzzFailure("a manifest that was written cannot be read")
        }
        try require(again.encoded() == written, "a manifest is written otherwise")
    }
}
