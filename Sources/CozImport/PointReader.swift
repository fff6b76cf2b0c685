// The interface of input formats: how files are recognized, and a reader that produces points.

public import CozDB

/// The limits of one `PointReader.read` call.
public struct BatchLimits: Sendable {
    /// Points after which the batch is full, stored or refused; at least 1.
    public var points: Int
    /// Decoded input bytes after which the batch is full.
    public var sizeBytes: Int

    /// - Parameters:
    ///   - points: at least 1.
    ///   - sizeBytes: bytes of input, decoded.
    public init(points: Int, sizeBytes: Int) {
        self.points = points
        self.sizeBytes = sizeBytes
    }
}

/// Reads the files of one format as points.
///
/// One reader serves all files of its format in an import, one after the other, on one thread.
/// Invalid input is refused into the batch (`WriteBatch.refuse`) with line, column and reason, and
/// reading continues. A reader throws only if the rest of the file is meaningless.
public protocol PointReader {
    /// Begins a file and forgets the previous one.
    ///
    /// - Throws: an error that prevents reading the whole file.
    mutating func begin(_ file: InputFile) throws(DatabaseError)

    /// Adds points of the current file until a limit is reached or the file ends.
    ///
    /// Handles of the batch (experiment, tag set, columns, strings) are invalid in the next call,
    /// which may get another batch. A batch may hold the last points of the previous file.
    ///
    /// - Returns: whether the file has ended.
    /// - Throws: `io` and `damaged` if the file breaks off: the points before that are in the batch
    ///   and are stored. `usage` for input that must not be stored at all.
    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool

    /// Adds the reader's own counters to the report at the end of the import.
    func complete(_ report: inout ImportReport)
}

extension PointReader {
    /// Does nothing.
    public func complete(_ report: inout ImportReport) {}
}

/// An input format. Other modules add formats as static members in an extension.
public struct InputFormat: Sendable {
    /// The name of the format, such as `lp`; `--format` takes it.
    public let name: String
    /// The preset for experiments that points of this format create, unless the import's settings
    /// name one; nil: no preset.
    public var preset: SchemaPreset?
    /// Whether a file has this format, judged by its first decoded bytes (up to 4096) and its name.
    public let recognizes: @Sendable (_ head: [UInt8], _ fileName: String) -> Bool
    /// Whether to read a file of a folder; files not read are counted in the report. nil: the
    /// format does not read folders. Throws `usage` if a file needs an option to be understood;
    /// nothing is stored then.
    ///
    /// Files of one folder share batches, so that thousands of small files do not cost a commit
    /// each.
    public var reads: (@Sendable (InputFile, ImportOptions) throws(DatabaseError) -> Bool)?
    /// Makes a reader for one import.
    public let makeReader: @Sendable (ImportOptions) throws(DatabaseError) -> any PointReader

    /// - Parameters:
    ///   - name: the name that `--format` takes.
    ///   - preset: the preset for new experiments, unless the import names one.
    ///   - recognizes: whether a file has this format; must not claim files of other formats.
    ///   - makeReader: makes a reader for one import.
    public init(
        name: String, preset: SchemaPreset? = nil,
        recognizes: @escaping @Sendable (_ head: [UInt8], _ fileName: String) -> Bool,
        makeReader: @escaping @Sendable (ImportOptions) throws(DatabaseError) -> any PointReader
    ) {
        self.name = name
        self.preset = preset
        self.recognizes = recognizes
        self.makeReader = makeReader
    }
}
