// The `async` forms of imports. Reading and committing run on threads, never on those of tasks.

public import CozDB
internal import Synchronization

/// Imports files in order, one after the other. When the task is cancelled, the import ends before
/// its next batch. Batches that were committed stay.
///
/// - Throws: as the synchronous form; `busy` if too many calls wait for the database
///   (`DatabaseOptions.waitingCallCountMax`); `cancelled` if the task was cancelled before the last
///   batch. A pipe that gives nothing is waited for all the same.
public func importFiles(
    _ paths: [String], into database: Database, options: ImportOptions = ImportOptions()
) async throws(DatabaseError) -> ImportReport {
    let cancellation = TaskCancellation()
    let own = cancellation.added(to: options)
    return try await cancellation.watch {
        await Result.of { () async throws(DatabaseError) in
            try await database.changing { () throws(DatabaseError) in
                try importFiles(paths, into: database, options: own)
            }
        }
    }.get()
}

/// Imports bytes in memory, such as the body of a request. When the task is cancelled, the import
/// ends before its next batch. Batches that were committed stay.
///
/// - Throws: as `importFiles(_:into:options:)`.
public func importBytes(
    _ bytes: [UInt8], name: String, into database: Database,
    options: ImportOptions = ImportOptions()
) async throws(DatabaseError) -> ImportReport {
    let cancellation = TaskCancellation()
    let own = cancellation.added(to: options)
    return try await cancellation.watch {
        await Result.of { () async throws(DatabaseError) in
            try await database.changing { () throws(DatabaseError) in
                try importBytes(bytes, name: name, into: database, options: own)
            }
        }
    }.get()
}

/// Imports chunks of bytes as they arrive, such as those of the body of a request: a file of any
/// size, plain or gzip. The next chunk is asked for when less than 1 MiB waits behind the one that
/// is being read.
///
/// Like a pipe, the input is read once. The formats that must read it twice to find the types of
/// new fields (`csv`, `annotated-csv`, `influx-csv` and `cozie-csv`) copy it to a temporary file
/// first. The import has two threads of its own until it ends, so limit how many run at once.
///
/// - Parameters:
///   - chunks: the input. It is iterated by the calling task.
///   - name: the name of the input in messages and in the rejects journal.
///   - database: the database, open for writing.
///   - options: the format, defaults for what the input leaves out, and callbacks.
/// - Throws: what `chunks` throws; the points before the error are committed, as for a file that
///   breaks off. `DatabaseError` as the synchronous form; `busy` if the system has no thread left;
///   `cancelled` if the task is cancelled while it waits or between batches. Batches that were
///   committed stay. An error of the import is thrown when the next chunk arrives.
nonisolated(nonsending) public func importBytes<Chunks: AsyncSequence>(
    _ chunks: Chunks, name: String, into database: Database,
    options: ImportOptions = ImportOptions()
) async throws -> ImportReport where Chunks.Element: Sequence<UInt8> {
    let stream = ByteStream()
    let cancellation = TaskCancellation(stream)
    let own = cancellation.added(to: options)
    return try await cancellation.watch {
        async let report = Result.of { () async throws(DatabaseError) in
            // Also if no thread could be had.
            defer { stream.abandon() }
            return try await Database.waiting { () throws(DatabaseError) in
                let inputs = try ImportInputs(stream: stream, name: name, options: own)
                return try importFiles(inputs, into: database, options: own)
            }
        }
        do {
            for try await chunk in chunks {
                guard await stream.send(chunk) else { break }
            }
            // Many sequences end without an error when their task is cancelled.
            if !Task.isCancelled { stream.end(.success(())) }
        } catch {
            stream.end(.failure(DatabaseError(.damaged, "broke off: \(error)", file: name)))
            _ = await report
            return Result<ImportReport, any Error>.failure(error)
        }
        return await report.mapError { $0 as any Error }
    }.get()
}

/// Tells the thread of an import that the task which waits for it was cancelled.
private final class TaskCancellation: Sendable {
    private let isRaised = Atomic<Bool>(false)
    private let stream: ByteStream?

    init(_ stream: ByteStream? = nil) {
        self.stream = stream
    }

    /// Returns options with which an import ends when the task is cancelled.
    func added(to options: ImportOptions) -> ImportOptions {
        var options = options
        let isCancelled = options.isCancelled
        options.isCancelled = {
            self.isRaised.load(ordering: .relaxed) || isCancelled?() == true
        }
        return options
    }

    /// Waits for a body and watches the task meanwhile.
    nonisolated(nonsending) func watch<Value>(
        _ body: nonisolated(nonsending) () async -> Value
    ) async -> Value {
        await withTaskCancellationHandler {
            await body()
        } onCancel: {
            isRaised.store(true, ordering: .relaxed)
            stream?.end(
                .failure(DatabaseError(.cancelled, "the import was cancelled while it waited")))
        }
    }
}

extension Result where Failure == DatabaseError {
    /// Runs a body. `withTaskCancellationHandler` does not pass on the type of its error.
    fileprivate static func of(
        _ body: () async throws(DatabaseError) -> Success
    ) async -> Result {
        do throws(DatabaseError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
