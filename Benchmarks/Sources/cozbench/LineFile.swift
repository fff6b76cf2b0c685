// A file of line protocol as lines, for making other files of it: the whole of it is mapped, and
// only where its lines begin is kept.

internal import CozDB
internal import Glibc

@safe final class LineFile {
    /// Lines before the first point: comments and statements of an export.
    let headerEnd: Int
    /// Where each line after the header begins, and where the last one ends.
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
            offset = unsafe LineFile.end(of: bytes, from: offset)
        }
        headerEnd = offset
        while offset < size {
            starts.append(offset)
            offset = unsafe LineFile.end(of: bytes, from: offset)
        }
        starts.append(size)
    }

    deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }

    /// The bytes of a line with what ends it.
    func line(_ index: Int) -> UnsafeRawBufferPointer {
        // Sound: both are places in the file.
        unsafe UnsafeRawBufferPointer(rebasing: bytes[starts[index]..<starts[index + 1]])
    }

    private static func isHeader(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        unsafe bytes[offset] == UInt8(ascii: "#")
            || bytes[offset...].starts(with: "CREATE DATABASE".utf8)
    }

    private static func end(of bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        guard let start = bytes.baseAddress,
            let found = unsafe memchr(start + offset, 10, bytes.count - offset)
        else { return bytes.count }
        return unsafe UnsafeRawPointer(found) - start + 1
    }
}

/// A file that is written from its beginning to its end.
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
