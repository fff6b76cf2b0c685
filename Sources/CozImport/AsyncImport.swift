// The `async` forms of imports. They run on the database's own threads.

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
    try await importing(options, database) { options throws(DatabaseError) in
        try importFiles(paths, into: database, options: options)
    }
}

/// Imports bytes in memory, such as the body of a request. When the task is cancelled, the import
/// ends before its next batch. Batches that were committed stay.
///
/// - Throws: as `importFiles(_:into:options:)`.
public func importBytes(
    _ bytes: [UInt8], name: String, into database: Database,
    options: ImportOptions = ImportOptions()
) async throws(DatabaseError) -> ImportReport {
    try await importing(options, database) { options throws(DatabaseError) in
        try importBytes(bytes, name: name, into: database, options: options)
    }
}

private func importing(
    _ options: ImportOptions, _ database: Database,
    _ body: @escaping @Sendable (ImportOptions) throws(DatabaseError) -> ImportReport
) async throws(DatabaseError) -> ImportReport {
    let isTaskCancelled = TaskCancellation()
    var options = options
    let isCancelled = options.isCancelled
    options.isCancelled = { isTaskCancelled.isRaised || isCancelled?() == true }
    let own = options
    let result = await withTaskCancellationHandler {
        await Result.of { () async throws(DatabaseError) in
            try await database.changing { () throws(DatabaseError) in try body(own) }
        }
    } onCancel: {
        isTaskCancelled.raise()
    }
    return try result.get()
}

/// Tells a thread that the task which waits for it was cancelled.
private final class TaskCancellation: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
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
