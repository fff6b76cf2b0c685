// The import format of Cozie payloads.

internal import CozDB
public import CozImport
internal import CozPlatform

extension InputFormat {
    /// Payloads of the Cozie app and its offline log: JSON objects and arrays of objects,
    /// concatenated or one per line.
    ///
    /// Invalid JSON is refused from its item up to the next line that begins with a bracket or
    /// brace. Memory use is independent of the file size. With `CoziePayloadOptions.isAtomic`,
    /// however, each file is one batch and `ImportOptions.batchRows` is ignored.
    public static func cozieJSON(
        _ payload: CoziePayloadOptions = CoziePayloadOptions()
    ) -> InputFormat {
        InputFormat(
            name: "cozie-json", preset: .cozieV3,
            recognizes: { head, _ in PayloadRecognition.recognizes(head) },
            makeReader: { options in PayloadReader(payload, options) })
    }
}

/// A decoder and its input, shared by the files of an import.
struct PayloadReader: PointReader {
    /// The maximum size of a file with `isAtomic`, because the whole file is one batch.
    static let atomicSizeBytesMax = 256 << 20

    private let box: Box
    private let isAtomic: Bool

    /// Holds the noncopyable state, because readers are copyable.
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
        settings.arrival = payload.enrichment?.arrival ?? options.now ?? .now
        settings.participant = options.participant
        settings.renames = options.stored
        settings.participantTags = options.participantTags
        for schema in options.schemas where options.settings.identity == nil {
            if case .participant = schema.identity { continue }
            settings.experimentsWithoutParticipant.insert(Array(schema.name.utf8))
        }
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
            // No part of the file must be stored, even if the file is truncated.
            throw DatabaseError(
                error.kind == .io || error.kind == .damaged ? .usage : error.kind,
                "\(error.message). Nothing was stored", file: file.name, remedy: error.remedy)
        }
        guard isFinished else {
            throw DatabaseError(
                .limitExceeded,
                "found more than \(PayloadReader.atomicSizeBytesMax) bytes, expected at most that "
                    + "many in an atomic import; split the file, or import it non-atomically. "
                    + "Nothing was stored",
                file: file.name, remedy: .change([.atomic]))
        }
        return true
    }

    /// A separate function, so that input and decoder are borrowed only once.
    private static func read(
        _ input: inout JSONInput, _ decoder: inout PayloadDecoder, _ file: InputFile,
        into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try decoder.read(&input, from: file, into: &batch, limits: limits)
    }
}

extension PayloadDecoder.Settings {
    /// - Parameter settings: for experiments that the payloads create.
    init(_ options: CoziePayloadOptions, _ settings: ExperimentSettings) {
        self.init()
        self.options = options
        participantTags = ParticipantTags(nil, settings.identity, [])
        switch settings.identity {
        case nil, .participant: break
        case .allTags, .tags: needsParticipant = false
        }
    }
}
