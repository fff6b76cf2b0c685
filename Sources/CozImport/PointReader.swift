// What a format is for an import: a way to know its files, and a reader that makes points of them.

public import CozDB

/// How much one call of `PointReader.read` may read.
public struct BatchLimits: Sendable {
    /// Points after which the batch is full, stored or refused; at least 1.
    public var points: Int
    /// Bytes of input after which the batch is full, whatever its points.
    public var sizeBytes: Int

    /// - Parameters:
    ///   - points: at least 1.
    ///   - sizeBytes: of input, decoded.
    public init(points: Int, sizeBytes: Int) {
        self.points = points
        self.sizeBytes = sizeBytes
    }
}

/// Reads the files of one format as points.
///
/// One reader serves all files of its format in one import, one after the other, on one thread.
/// What the input gets wrong is refused into the batch (`WriteBatch.refuse`), with line, column
/// and reason, and reading goes on; only what makes the rest of the file meaningless is thrown.
public protocol PointReader {
    /// A file begins; whatever was left of the one before is forgotten.
    ///
    /// - Throws: what keeps the whole file from being read.
    mutating func begin(_ file: InputFile) throws(DatabaseError)

    /// Adds points of the file that began last until a limit is reached or the file ends.
    ///
    /// Numbers of the batch (experiment, tag set, columns, strings) are forgotten between calls:
    /// each call gets an empty batch.
    ///
    /// - Returns: whether the file has ended.
    /// - Throws: `io` and `damaged` when the file breaks off: the points read until then are in
    ///   the batch and get stored. `usage` for input that must not be stored at all.
    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool

    /// Adds what only the reader counted to the report of the whole import.
    func complete(_ report: inout ImportReport)
}

extension PointReader {
    /// Nothing to add.
    public func complete(_ report: inout ImportReport) {}
}

/// A format that imports read. Modules add theirs as static members in an extension.
public struct InputFormat: Sendable {
    /// As `--format` takes it, such as `lp`.
    public let name: String
    /// The preset of experiments that points of this format create, where the settings of the
    /// import name none; nil: no preset.
    public var preset: SchemaPreset?
    /// Whether a file is of this format, by its first decoded bytes (up to 4096) and its name.
    public let recognizes: @Sendable (_ head: [UInt8], _ fileName: String) -> Bool
    /// Whether a file that lies in a folder is to be read; files that are not are counted in the
    /// report. nil: the format reads no folders. Throws `usage` for a file that needs an option to
    /// be understood: nothing is stored then.
    ///
    /// Files of one folder share batches, so that thousands of small ones do not cost a commit
    /// each.
    public var reads: (@Sendable (InputFile, ImportOptions) throws(DatabaseError) -> Bool)?
    /// Makes a reader for one import.
    public let makeReader: @Sendable (ImportOptions) throws(DatabaseError) -> any PointReader

    /// - Parameters:
    ///   - name: as `--format` takes it.
    ///   - preset: for new experiments, where the import names none.
    ///   - recognizes: whether a file is of this format; must not claim files of other formats.
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
