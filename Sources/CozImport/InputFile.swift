// The input of an import: a file or standard input, plain or gzip.

public import CozDB
internal import CozPlatform

/// A file or standard input. gzip is detected by its magic bytes and decoded while reading.
///
/// A regular file is open only while it is read, so an import can hold thousands of them. Pipes and
/// standard input are open from the beginning. Not safe for use by several threads at once.
public final class InputFile {
    /// The path as given; `standard input` for `-`.
    public let name: String
    /// Bytes of the file as stored; nil if unknown.
    public let sizeBytes: Int?
    /// Bytes read from the file so far, before decoding.
    public private(set) var readBytes = 0
    /// Bytes returned by `read` so far, decoded.
    public private(set) var decodedBytes = 0

    /// The folder that contains the file, as given to the import; nil for a file given by name.
    public let folder: String?

    /// -1 while the file is not open.
    private var descriptor: Int32
    /// The bytes of an input in memory; nil for a file.
    private let bytes: [UInt8]?
    /// The bytes that a task sends; nil for other inputs.
    private let stream: ByteStream?
    private let isStandardInput: Bool
    /// The cancellation check, called when a signal interrupts a blocking open or read.
    private let isCancelled: (@Sendable () -> Bool)?
    /// Whether the file can be closed and opened again.
    let hasPath: Bool
    /// The file offset at which reading began; nil if the input cannot be read twice (pipes,
    /// terminals).
    private let origin: off_t?
    private var isClosed = false
    /// The first stored bytes, which tell gzip from plain text, until they are consumed.
    private var head: [UInt8] = []
    private var headUsed = 0
    /// Decoded bytes that `peek` returned and `read` has not.
    private var peeked: [UInt8] = []
    /// The error that `peek` met after those bytes.
    private var peekError: DatabaseError?
    private static let peekSizeBytes = 4096
    private var decoder: GzipDecoder?
    private var isStarted = false
    /// Thrown in place of the end of the file; nil if the file is complete.
    private let endError: DatabaseError?

    /// Opens a file to check that it can be read; `-` is standard input.
    ///
    /// - Throws: `notFound` if it does not exist or is a directory; `io` for all other errors.
    public convenience init(path: String) throws(DatabaseError) {
        try self.init(path: path, folder: nil, isCancelled: nil)
    }

    /// - Parameter folder: the folder that contains the file; nil for a file given by name.
    /// - Throws: as above; `cancelled` if a signal interrupts the wait for a pipe's writer and
    ///   `isCancelled` then returns true.
    init(
        path: String, folder: String?, isCancelled: (@Sendable () -> Bool)?
    ) throws(DatabaseError) {
        self.folder = folder
        self.isCancelled = isCancelled
        endError = nil
        bytes = nil
        stream = nil
        isStandardInput = path == "-" && folder == nil
        hasPath = !isStandardInput
        name = isStandardInput ? "standard input" : path
        descriptor = isStandardInput ? 0 : try InputFile.open(path, isCancelled)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw InputFile.failure(errno, path)
        }
        let kind = status.st_mode & S_IFMT
        let start = lseek(descriptor, 0, SEEK_CUR)
        origin = kind == S_IFREG && start >= 0 ? start : nil
        sizeBytes = kind == S_IFREG ? Int(status.st_size) : nil
        if kind == S_IFDIR {
            throw DatabaseError(.notFound, "is a directory, expected a file", file: path)
        }
        if kind == S_IFREG && !isStandardInput { closeDescriptor() }
    }

    /// Takes ownership of an open descriptor positioned at its first byte.
    ///
    /// - Parameter endError: what `read` throws after the last byte; nil for a complete file.
    init(name: String, descriptor: Int32, sizeBytes: Int, endError: DatabaseError? = nil) {
        self.name = name
        self.endError = endError
        self.descriptor = descriptor
        self.sizeBytes = sizeBytes
        bytes = nil
        stream = nil
        folder = nil
        isCancelled = nil
        isStandardInput = false
        hasPath = false
        origin = 0
    }

    /// Reads bytes in memory, plain or gzip.
    ///
    /// - Parameters:
    ///   - bytes: the contents.
    ///   - name: the name of the input in messages and in the rejects journal.
    public init(bytes: [UInt8], name: String) {
        self.name = name
        self.bytes = bytes
        stream = nil
        sizeBytes = bytes.count
        descriptor = -1
        endError = nil
        folder = nil
        isCancelled = nil
        isStandardInput = false
        hasPath = false
        origin = 0
    }

    /// Reads what a task sends, once, like a pipe.
    init(stream: ByteStream, name: String) {
        self.name = name
        self.stream = stream
        bytes = nil
        sizeBytes = nil
        descriptor = -1
        endError = nil
        folder = nil
        isCancelled = nil
        isStandardInput = false
        hasPath = false
        origin = nil
    }

    deinit {
        if !isStandardInput { closeDescriptor() }
    }

    /// Closes the file for good.
    public func close() {
        isClosed = true
        if !isStandardInput { closeDescriptor() }
    }

    private func closeDescriptor() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    static func open(
        _ path: String, _ isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(DatabaseError) -> Int32 {
        // The system call would take the path for the part before the zero byte.
        guard !path.utf8.contains(0) else { throw failure(EINVAL, path) }
        while true {
            let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw failure(errno, path) }
            try checkCancelled(isCancelled, path)
        }
    }

    private static func checkCancelled(
        _ isCancelled: (@Sendable () -> Bool)?, _ name: String
    ) throws(DatabaseError) {
        guard isCancelled?() == true else { return }
        throw DatabaseError(
            .cancelled, "the import was cancelled while it waited for this input", file: name)
    }

    private static func failure(_ code: Int32, _ path: String) -> DatabaseError {
        DatabaseError(
            code == ENOENT || code == ENOTDIR ? .notFound : .io,
            "cannot be opened: \(message(code))", file: path)
    }

    /// Whether the file can be read a second time.
    public var isRepeatable: Bool { origin != nil }

    /// Starts over at the first byte. Requires `isRepeatable`.
    ///
    /// - Throws: `io`.
    public func rewind() throws(DatabaseError) {
        guard let origin, !isClosed else {
            throw DatabaseError(.io, "cannot be read a second time", file: name)
        }
        if hasPath || bytes != nil {
            closeDescriptor()
        } else if lseek(descriptor, origin, SEEK_SET) != origin {
            throw DatabaseError(.io, "cannot be read a second time", file: name)
        }
        readBytes = 0
        decodedBytes = 0
        head = []
        headUsed = 0
        peeked = []
        peekError = nil
        decoder = nil
        isStarted = false
    }

    /// Whether this is a regular file opened by name and known not to be gzip. False before the
    /// first read.
    var isPlain: Bool { isStarted && decoder == nil && isReopenable }

    /// Whether the file can be opened again by its name.
    package var isReopenable: Bool { isRepeatable && hasPath }

    /// Opens the same file again, at its first byte; nil for pipes and standard input.
    ///
    /// - Throws: as `init`.
    func reopened() throws(DatabaseError) -> InputFile? {
        guard isReopenable else { return nil }
        return try InputFile(path: name)
    }

    /// Returns the first 4096 decoded bytes, or all if the file has fewer. `read` returns them
    /// again. Waits for a pipe that has not written as many.
    ///
    /// - Throws: as `read`, if there is no byte before the error.
    public func peek() throws(DatabaseError) -> [UInt8] {
        guard peeked.isEmpty else { return peeked }
        var buffer = PaddedBuffer()
        while buffer.count < InputFile.peekSizeBytes {
            let before = buffer.count
            do throws(DatabaseError) {
                unsafe try buffer.append(upTo: InputFile.peekSizeBytes - before) {
                    (target) throws(DatabaseError) -> Int in
                    unsafe try readDecoded(into: target)
                }
            } catch {
                if before == 0 || error.kind == .cancelled { throw error }
                peekError = error
            }
            if buffer.count == before { break }
        }
        peeked = buffer.bytes.copy(0..<buffer.count)
        return peeked
    }

    /// Reads and decodes; returns the number of bytes, 0 at the end.
    ///
    /// - Throws: `io` if reading fails; `damaged`, with the offset in the file, if gzip data is
    ///   truncated or corrupt; `cancelled` if a signal interrupts the wait for input and the import
    ///   is cancelled.
    public func read(into target: UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int {
        let count = unsafe try readDecoded(into: target)
        decodedBytes += count
        return count
    }

    private func readDecoded(
        into target: UnsafeMutableRawBufferPointer
    ) throws(DatabaseError) -> Int {
        if !peeked.isEmpty {
            let count = Swift.min(peeked.count, target.count)
            unsafe target.copyBytes(from: peeked[0..<count])
            peeked.removeFirst(count)
            return count
        }
        if let peekError { throw peekError }
        if !isStarted { try start() }
        if let decoder {
            do {
                return try unsafe decoder.read(into: target, from: self)
            } catch {
                throw DatabaseError(
                    error.kind, error.message, file: name, offset: decoder.consumedBytes,
                    remedy: error.remedy)
            }
        }
        let count = unsafe try readStored(into: target)
        if count == 0, let endError { throw endError }
        return count
    }

    /// Reads bytes as stored, beginning with those that `start` looked at.
    func readStored(into target: UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int {
        if headUsed < head.count {
            let count = Swift.min(head.count - headUsed, target.count)
            unsafe target.copyBytes(from: head[headUsed..<(headUsed + count)])
            headUsed += count
            return count
        }
        return unsafe try readDescriptor(into: target)
    }

    /// Reads the first two bytes or more to detect gzip.
    private func start() throws(DatabaseError) {
        isStarted = true
        var buffer = PaddedBuffer()
        while buffer.count < 2 {
            let before = buffer.count
            unsafe try buffer.append(upTo: 4096) { (target) throws(DatabaseError) -> Int in
                unsafe try readDescriptor(into: target)
            }
            if buffer.count == before { break }
        }
        head = buffer.bytes.copy(0..<buffer.count)
        if head.starts(with: GzipDecoder.magic) { decoder = try GzipDecoder(file: name) }
    }

    private func readDescriptor(
        into target: UnsafeMutableRawBufferPointer
    ) throws(DatabaseError) -> Int {
        if isClosed { return 0 }
        if let bytes {
            let count = Swift.min(bytes.count - readBytes, target.count)
            unsafe target.copyBytes(from: bytes[readBytes..<(readBytes + count)])
            readBytes += count
            return count
        }
        if let stream {
            let count = unsafe try stream.read(into: target)
            readBytes += count
            return count
        }
        if descriptor < 0 { descriptor = try InputFile.open(name, isCancelled) }
        while true {
            // Sound: the buffer is writable for its count.
            let count = unsafe Glibc.read(descriptor, target.baseAddress, target.count)
            if count >= 0 {
                readBytes += count
                return count
            }
            if errno == EAGAIN {
                // Another program that shares the input may have set non-blocking mode.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                unsafe poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw DatabaseError(
                    .io, "cannot be read: \(InputFile.message(errno))", file: name,
                    offset: readBytes)
            }
            try InputFile.checkCancelled(isCancelled, name)
        }
    }

    static func message(_ code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
