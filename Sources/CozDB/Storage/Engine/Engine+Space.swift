// Obsolete files, which no manifest names: when they are removed, and how disk space is freed.

internal import CozPlatform

extension Engine {
    /// Keeps obsolete files for slow readers that may still open them. Only the logs of the last
    /// flush stay; otherwise an import would keep a minute of its input.
    func retire(_ names: [FileName]) {
        let now = ContinuousClock.now
        let deadline = now + .seconds(options.retireSeconds)
        state.withLock { state in
            if names.contains(where: \.isLog) {
                for index in state.retired.indices where state.retired[index].name.isLog {
                    state.retired[index].deadline = now
                }
            }
            state.retired += names.map { (name: $0, deadline: deadline) }
        }
        removeRetired(all: false)
    }

    /// Removes obsolete files. A failure is ignored: the next opening removes files that no
    /// manifest names.
    ///
    /// One thread removes at a time and the others wait, so the space is free when they return.
    ///
    /// - Parameter all: whether to remove files that slow readers may still open.
    func removeRetired(all: Bool) {
        removalMutex.withLock { _ in
            let now = ContinuousClock.now
            let due = state.withLock { state in
                let due = state.retired.filter { all || $0.deadline <= now }
                state.retired.removeAll { all || $0.deadline <= now }
                return due
            }
            guard !due.isEmpty else { return }
            for entry in due { try? remove(entry.name) }
            try? directory.sync()
            state.withLock { $0.removals += 1 }
        }
    }

    /// Runs a body that needs disk space and leaves nothing behind if it fails. If the disk is
    /// full, obsolete files are removed and the body runs once more.
    ///
    /// Only calls that create and write files are repeated. A failed sync is final: what it did not
    /// make durable is lost, whatever the reason.
    func makingRoom<Result>(
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let before = state.withLock { $0.removals }
        do throws(DatabaseError) {
            return try body()
        } catch {
            guard let cause = error.cause, cause.isOutOfSpace, !cause.isSyncFailure else {
                throw error
            }
            removeRetired(all: true)
            // Another thread may have removed files meanwhile.
            guard state.withLock({ $0.removals }) != before else { throw error }
            options.onEvent?(.removedObsoleteFiles)
            return try body()
        }
    }

    /// Removes all obsolete files without waiting for slow readers, which will find a newer
    /// manifest. Durable on return.
    ///
    /// - Throws: `io` if a file cannot be removed. The rest is retried later.
    func eraseRetired() throws(DatabaseError) {
        try removalMutex.withLock { _ throws(DatabaseError) in
            let all = state.withLock { $0.retired }
            guard !all.isEmpty else { return }
            try calling(
                "removing obsolete files (their data is deleted; the files are removed when the "
                    + "database is next opened for writing)"
            ) { () throws(FileError) in
                for entry in all {
                    do throws(FileError) {
                        try remove(entry.name)
                    } catch {
                        guard error.isNotFound else { throw error }
                    }
                }
                try directory.sync()
                if all.contains(where: { if case .rejects = $0.name { true } else { false } }) {
                    try directory.openDirectory(FileName.rejectsDirectory, create: false).sync()
                }
            }
            let names = Set(all.map(\.name))
            state.withLock { state in state.retired.removeAll { names.contains($0.name) } }
        }
    }

    /// Removes a file that no manifest names.
    ///
    /// - Throws: ENOLCK if the lock is lost, because another writer may have created a file of this
    ///   name.
    func remove(_ name: FileName) throws(FileError) {
        guard lockFile.isHeld(in: directory) else {
            throw FileError(code: ENOLCK, call: "unlink", path: directory.path + "/" + name.text)
        }
        guard case .rejects = name else { return try directory.remove(name.text) }
        try directory.openDirectory(FileName.rejectsDirectory, create: false).remove(name.text)
    }
}
