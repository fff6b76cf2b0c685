// Files that no manifest names any more: when they go, at once where space runs out.

internal import Glibc

extension Engine {
    /// Remembers files that slow readers may still be about to open. Of logs only those of the last
    /// flush stay: an import would keep all of its input for a minute.
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

    /// Failing to remove a file is no loss: the next opening removes what no manifest names.
    ///
    /// One thread removes at a time, and the others wait: what they find gone is gone then, and
    /// its space is free.
    ///
    /// - Parameter all: also those that slow readers may still be about to open.
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

    /// Runs something that takes space and leaves nothing behind where it fails. Where there is no
    /// space, files go that only wait for slow readers, and it runs once more.
    ///
    /// Only calls that name and write files are made again. What a sync does not make durable is
    /// lost, whatever the reason: that error is final.
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
            // Another thread may have done it meanwhile.
            guard state.withLock({ $0.removals }) != before else { throw error }
            options.log?("no space left; removed files that waited for slow readers")
            return try body()
        }
    }

    /// Removes every file that no manifest names, without waiting for slow readers: those find a
    /// newer manifest. Durable on return.
    ///
    /// - Throws: `io` where a file cannot be removed; what is left is tried again with the next
    ///   one that is due.
    func eraseRetired() throws(DatabaseError) {
        try removalMutex.withLock { _ throws(DatabaseError) in try eraseAll() }
    }

    private func eraseAll() throws(DatabaseError) {
        let all = state.withLock { $0.retired }
        guard !all.isEmpty else { return }
        try calling(
            "removing files with deleted data (it is deleted; they go when the database is opened "
                + "for writing again)"
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

    /// Removes a file that no manifest names.
    ///
    /// - Throws: ENOLCK where another writer may have made one of this name meanwhile.
    func remove(_ name: FileName) throws(FileError) {
        guard lockFile.isHeld(in: directory) else {
            throw FileError(code: ENOLCK, call: "unlink", path: directory.path + "/" + name.text)
        }
        guard case .rejects = name else { return try directory.remove(name.text) }
        try directory.openDirectory(FileName.rejectsDirectory, create: false).remove(name.text)
    }
}
