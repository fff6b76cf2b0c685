// gzip: read in one piece and in small ones.

@testable internal import CozDB
@testable internal import CozImport
internal import Glibc

/// First byte: whether the magic is put in front (bit 0), and the size of the small pieces.
enum GzipFuzzing {
    /// More than any input of a fuzzer becomes.
    private static let sizeBytesMax = 16 << 20

    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        let stored = choice & 1 == 0 ? bytes : GzipDecoder.magic + [8] + bytes
        let whole = try decode(stored, pieceSizeBytes: 1 << 18)
        let pieces = try decode(stored, pieceSizeBytes: 1 + Int(choice >> 1))
        try require(whole.bytes == pieces.bytes, "small pieces give other bytes")
        try require(
            whole.error?.kind == pieces.error?.kind, "small pieces fail otherwise: \(pieces)")
    }

    private static func decode(
        _ stored: [UInt8], pieceSizeBytes: Int
    ) throws(FuzzFailure) -> (bytes: [UInt8], error: DatabaseError?) {
        // Without a name, so that it goes with the last descriptor.
        guard let unnamed = unsafe tmpfile() else { throw FuzzFailure("no temporary file") }
        let descriptor = unsafe dup(fileno(unnamed))
        unsafe fclose(unnamed)
        let written = unsafe write(descriptor, stored, stored.count)
        guard written == stored.count, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FuzzFailure("the temporary file cannot be written")
        }
        let file = InputFile(name: "fuzz", descriptor: descriptor, sizeBytes: stored.count)
        var piece = [UInt8](repeating: 0, count: pieceSizeBytes)
        var bytes: [UInt8] = []
        while bytes.count < sizeBytesMax {
            // A typed throw cannot pass through rethrowing withUnsafeMutableBytes.
            let result = unsafe piece.withUnsafeMutableBytes { buffer in
                Result { () throws(DatabaseError) in unsafe try file.read(into: buffer) }
            }
            switch result {
            case .success(0): return (bytes, nil)
            case .success(let count): bytes += piece[..<count]
            case .failure(let error):
                try Sample.check(error, allowing: [.damaged])
                return (bytes, error)
            }
        }
        return (bytes, nil)
    }
}
