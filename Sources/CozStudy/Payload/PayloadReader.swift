// Payloads as one of the formats of an import.

internal import CozDB
public import CozImport
internal import Glibc

extension InputFormat {
    /// What the Cozie app posts, and its offline log: JSON objects and arrays of them, one after
    /// the other or in lines.
    ///
    /// A document that is no JSON is refused from the item in which that shows to the next line
    /// that begins with a bracket or brace. Memory does not grow with the size of a file, unless
    /// nothing of it is to be stored where a part cannot be (`CoziePayloadOptions.isAtomic`): then
    /// a file is one batch, and `ImportOptions.batchRows` is not asked.
    public static func cozieJSON(
        _ payload: CoziePayloadOptions = CoziePayloadOptions()
    ) -> InputFormat {
        InputFormat(
            name: "cozie-json", preset: .cozieV3,
            recognizes: { head, _ in PayloadRecognition.recognizes(head) },
            makeReader: { options in PayloadReader(payload, options) })
    }
}

/// A decoder with its input, shared by the files of an import.
struct PayloadReader: PointReader {
    /// Largest file of which nothing is stored where a part cannot be: it is one batch.
    static let atomicSizeBytesMax = 256 << 20

    private let box: Box
    private let isAtomic: Bool

    /// What cannot be copied, as readers can.
    private final class Box {
        var input: JSONInput
        var decoder: PayloadDecoder

        init(_ settings: PayloadDecoder.Settings) {
            input = JSONInput(acceptsTrailingCommas: settings.options.acceptsTrailingCommas)
            decoder = PayloadDecoder(settings)
        }
    }

    init(_ payload: CoziePayloadOptions, _ options: ImportOptions) {
        var settings = PayloadDecoder.Settings(payload, options.settings)
        settings.recovers = !payload.isAtomic
        settings.arrival = payload.enrichment?.arrival ?? options.now ?? PayloadReader.clock()
        settings.participant = options.participant
        settings.storedName = options.storedName(of:)
        if let tag = options.participantTag { settings.participantTag = tag }
        if settings.requiredTag != nil { settings.requiredTag = settings.participantTag }
        box = Box(settings)
        isAtomic = payload.isAtomic
    }

    mutating func begin(_ file: InputFile) {
        box.input.begin()
        box.decoder.begin()
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        guard isAtomic else {
            return try PayloadReader.read(
                &box.input, &box.decoder, file, into: &batch, limits: limits)
        }
        batch.isAllOrNothing = true
        let whole = BatchLimits(points: .max, sizeBytes: PayloadReader.atomicSizeBytesMax)
        var isFinished = false
        do {
            isFinished = try PayloadReader.read(
                &box.input, &box.decoder, file, into: &batch, limits: whole)
        } catch {
            // A part of the file must not be stored, also where the file breaks off.
            throw DatabaseError(
                error.kind == .io || error.kind == .damaged ? .usage : error.kind,
                "\(error.message). Nothing of it was stored", file: file.name)
        }
        guard isFinished else {
            throw DatabaseError(
                .limitExceeded,
                "more than \(PayloadReader.atomicSizeBytesMax) bytes, which is too much to store "
                    + "at once; expected a smaller file, or an import without --atomic. Nothing "
                    + "of it was stored",
                file: file.name)
        }
        return true
    }

    /// Its own function, so that input and decoder are borrowed once and not for each use.
    private static func read(
        _ input: inout JSONInput, _ decoder: inout PayloadDecoder, _ file: InputFile,
        into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try decoder.read(&input, from: file, into: &batch, limits: limits)
    }

    static func clock() -> Timestamp {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

extension PayloadDecoder.Settings {
    /// - Parameter settings: of experiments that the payloads create.
    init(_ options: CoziePayloadOptions, _ settings: ExperimentSettings) {
        self.init()
        self.options = options
        switch settings.identity {
        case nil: requiredTag = participantTag
        case .participant(let tag):
            participantTag = tag
            requiredTag = tag
        case .allTags, .tags: requiredTag = nil
        }
    }
}
