// The lines of a line protocol file, for making other files of them. The file is mapped; only the
// offsets of its lines are kept.

internal import CozDB
internal import Glibc

@safe final class LineFile {
    /// The end of the header: the comments and statements of an export before the first point.
    let headerEnd: Int
    /// The offset of each line after the header, then the end of the last one.
    private(set) var starts: [Int] = []
    let bytes: UnsafeRawBufferPointer

    var lineCount: Int { starts.count - 1 }

    init(_ path: String) throws(DatabaseError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DatabaseError(.notFound, "cannot read the file", file: path)
        }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0,
            let address = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0),
            unsafe address != MAP_FAILED
        else { throw DatabaseError(.io, "cannot map the file", file: path) }
        let bytes = unsafe UnsafeRawBufferPointer(start: address, count: size)
        unsafe self.bytes = bytes
        var offset = 0
        while offset < size, unsafe LineFile.isHeader(bytes, offset) {
            offset = unsafe LineFile.endOfLine(bytes, from: offset)
        }
        headerEnd = offset
        while offset < size {
            starts.append(offset)
            offset = unsafe LineFile.endOfPoint(bytes, from: offset)
        }
        starts.append(size)
    }

    deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    /// The bytes of a line including its newline.
    func line(_ index: Int) -> UnsafeRawBufferPointer {
        // Sound: both are offsets in the file.
        unsafe UnsafeRawBufferPointer(rebasing: bytes[starts[index]..<starts[index + 1]])
    }

    private static func isHeader(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        unsafe bytes[offset] == UInt8(ascii: "#")
            || bytes[offset...].starts(with: "CREATE DATABASE".utf8)
    }

    private static func endOfLine(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        var index = offset
        while index < bytes.count, unsafe bytes[index] != 10 { index += 1 }
        return min(index + 1, bytes.count)
    }

    /// The end of a point. Newlines inside strings do not end it.
    private static func endOfPoint(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        var isQuoted = false
        var index = offset
        while index < bytes.count {
            switch unsafe bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case 10 where !isQuoted: return index + 1
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}

/// A file that is written sequentially.
final class OutputFile {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []

    init(_ path: String) throws(DatabaseError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw DatabaseError(.io, "cannot make the file", file: path)
        }
        buffer.reserveCapacity(2 << 20)
    }

    deinit { close(descriptor) }

    func append(_ bytes: UnsafeRawBufferPointer) throws(DatabaseError) {
        unsafe buffer.append(contentsOf: bytes)
        if buffer.count >= 1 << 20 { try flush() }
    }

    func append(_ text: String) throws(DatabaseError) {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 20 { try flush() }
    }

    func flush() throws(DatabaseError) {
        var written = 0
        while written < buffer.count {
            let count = unsafe buffer.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress! + written, bytes.count - written)
            }
            guard count > 0 else { throw DatabaseError(.io, "cannot write", file: path) }
            written += count
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
