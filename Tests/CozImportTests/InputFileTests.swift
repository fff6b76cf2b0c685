// Plain and gzip input: members, damage, rewinding.

internal import CozZlib
internal import CozTestSupport
internal import Foundation
internal import Glibc
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

/// Files that are removed when the test ends.
struct TemporaryFiles {
    private let temporary = TemporaryDirectory()
    var directory: String { temporary.path }

    func write(_ name: String, _ bytes: [UInt8]) -> String {
        unsafe mkdir(directory, 0o700)
        let path = "\(directory)/\(name)"
        let file = unsafe fopen(path, "w")!
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fclose(file)
        return path
    }

    func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }
}

/// One gzip member.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = unsafe z_stream()
    let size = unsafe Int32(MemoryLayout<z_stream>.size)
    unsafe deflateInit2_(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 8 + 1024)
    let count = unsafe input.withUnsafeMutableBufferPointer { input in
        unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = UInt32(input.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = UInt32(output.count)
            unsafe deflate(&stream, Z_FINISH)
            return unsafe output.count - Int(stream.avail_out)
        }
    }
    unsafe deflateEnd(&stream)
    return Array(output[0..<count])
}

@Suite struct InputFileTests {
    let files = TemporaryFiles()
    let text = Array(String(repeating: "m,a=b v=1.5,s=\"text\" 1\n", count: 40_000).utf8)

    /// Reads the rest of a file in small pieces.
    private func read(_ file: InputFile, _ size: Int, into buffer: inout PaddedBuffer) throws {
        var before = -1
        while buffer.count != before {
            before = buffer.count
            unsafe try buffer.append(upTo: size) { (target) throws(DatabaseError) -> Int in
                unsafe try file.read(into: target)
            }
        }
    }

    @Test func `plain and gzip files read the same`() throws {
        let plain = files.write("plain", text)
        let half = text.count / 2
        let two = files.write("two.gz", gzip(Array(text[..<half])) + gzip(Array(text[half...])))
        let padded = files.write("padded.gz", gzip(text) + [0, 0, 0, 0])
        for path in [plain, two, padded] {
            #expect(try SharedFiles.read(path) == text)
        }
        #expect(try SharedFiles.read(files.write("empty", [])) == [])
        #expect(try SharedFiles.read(files.write("empty.gz", gzip([]))) == [])
        #expect(try SharedFiles.read(files.write("one", [0x1F])) == [0x1F])
    }

    @Test func `bytes in memory read as a file of them`() throws {
        for stored in [text, gzip(text), [], gzip([]), [0x1F]] {
            let file = InputFile(bytes: stored, name: "body")
            let expected = try SharedFiles.read(files.write("stored", stored))
            for _ in 0..<2 {
                #expect(try file.peek() == Array(expected.prefix(4096)))
                var buffer = PaddedBuffer()
                try read(file, 999, into: &buffer)
                #expect(buffer.bytes.copy(0..<buffer.count) == expected)
                #expect(file.readBytes == stored.count && file.sizeBytes == stored.count)
                try file.rewind()
            }
        }
        let cut = InputFile(bytes: Array(gzip(text).dropLast(20)), name: "body")
        var buffer = PaddedBuffer()
        let error = #expect(throws: DatabaseError.self) { try read(cut, 999, into: &buffer) }
        #expect(error?.kind == .damaged && error?.file == "body")
    }

    @Test func `a look at the beginning sees 4 KiB, however a pipe delivers them`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let (source, target, text) = (ends[0], ends[1], text)
        let thread = Thread {
            for piece in 0..<5000 {
                var byte = text[piece]
                // Sound: writes one byte from a one-byte variable.
                _ = unsafe Glibc.write(target, &byte, 1)
            }
            _ = Glibc.close(target)
        }
        thread.start()
        let file = InputFile(name: "pipe", descriptor: source, sizeBytes: 0)
        #expect(try file.peek() == Array(text[..<4096]))
        var buffer = PaddedBuffer()
        try read(file, 999, into: &buffer)
        #expect(buffer.bytes.copy(0..<buffer.count) == Array(text[..<5000]))
    }

    @Test func `a look at a broken beginning does not hide it`() throws {
        let whole = gzip(Array(text[..<3000]))
        let file = try InputFile(path: files.write("cut.gz", Array(whole.dropLast(20))))
        let head = try file.peek()
        #expect(head.count < 3000 && text.starts(with: head))
        var buffer = PaddedBuffer()
        #expect(throws: DatabaseError.self) { try read(file, 999, into: &buffer) }
        #expect(buffer.bytes.copy(0..<buffer.count).starts(with: head))
    }

    @Test func `small reads get everything that zlib holds back`() throws {
        let zeros = [UInt8](repeating: 0x41, count: 100_000)
        let file = try InputFile(path: files.write("zeros.gz", gzip(zeros)))
        var buffer = PaddedBuffer()
        try read(file, 7, into: &buffer)
        #expect(buffer.bytes.copy(0..<buffer.count) == zeros)
    }

    @Test func `peek and rewind leave everything to read`() throws {
        let file = try InputFile(path: files.write("x.gz", gzip(text)))
        #expect(try file.peek().starts(with: text.prefix(20)))
        #expect(file.isRepeatable)
        var buffer = PaddedBuffer()
        for _ in 0..<3 {
            unsafe try buffer.append(upTo: 5000) { (target) throws(DatabaseError) -> Int in
                unsafe try file.read(into: target)
            }
        }
        #expect(text.starts(with: buffer.bytes.copy(0..<buffer.count)))
        try file.rewind()
        #expect(try file.peek().starts(with: text.prefix(20)))
    }

    @Test func `cut and corrupt gzip files are named with the offset`() throws {
        let whole = gzip(text)
        for size in [2, 9, 12, whole.count / 2, whole.count - 1] {
            let path = files.write("cut\(size).gz", Array(whole[..<size]))
            let error = #expect(throws: DatabaseError.self) { try SharedFiles.read(path) }
            #expect(error?.kind == .damaged && error?.offset == size && error?.file == path)
        }
        var bad = whole
        bad[whole.count / 2] ^= 0x55
        for (name, bytes) in [("bad", bad), ("tail", whole + [1, 2, 3])] {
            let path = files.write("\(name).gz", bytes)
            let error = #expect(throws: DatabaseError.self) { try SharedFiles.read(path) }
            #expect(error?.kind == .damaged && (error?.offset ?? 0) > 0, "\(name)")
        }
    }

    @Test func `files that are not there or are directories are refused`() {
        let missing = #expect(throws: DatabaseError.self) {
            try InputFile(path: "\(files.directory)/missing")
        }
        #expect(missing?.kind == .notFound)
        _ = files.write("x", "")
        let directory = #expect(throws: DatabaseError.self) {
            try InputFile(path: files.directory)
        }
        #expect(directory?.kind == .notFound)
        #expect(directory?.message.contains("directory") == true)
    }
}
