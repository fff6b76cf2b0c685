// Threads for calls that may block. A thread that has ended its work waits a moment for more: the
// system lets a new thread wait behind busy ones, which takes longer than a small query.

/// Runs pieces of work, each on a thread of its own.
enum WorkerThreads {
    typealias Work = @Sendable () -> Void

    /// Where a thread gets its next work.
    private final class Place: Sendable {
        private let work: Monitor<Work?>
        private let isFilled = Gate()

        init(_ work: Work? = nil) { self.work = Monitor(work) }

        func give(_ work: @escaping Work) {
            self.work.withLock { $0 = work }
            isFilled.open()
        }

        func wait() { isFilled.wait() }

        /// Whether work came in that time.
        func wait(atMost time: Duration) -> Bool { isFilled.wait(atMost: time) }

        /// Runs the work. Nothing that it captures stays alive.
        @inline(never)
        func run() {
            let own = work.withLock { work in
                defer { work = nil }
                return work
            }
            own?()
        }
    }

    private static let idleTime = Duration.milliseconds(100)
    /// The places of the threads that wait. The last one has waited the shortest.
    private static let idle = Monitor<[Place]>([])
    private static let process = ProcessGuard()

    /// Runs the work on a thread. Returns false if the system has no thread left.
    static func start(_ work: @escaping Work) -> Bool {
        // A child process made by `fork` has no threads, and may have a locked mutex.
        if process.isSameProcess, let place = idle.withLock({ $0.popLast() }) {
            place.give(work)
            return true
        }
        let place = Place(work)
        return DetachedThread.start { serve(place) }
    }

    private static func serve(_ first: Place) {
        first.run()
        while process.isSameProcess {
            let place = Place()
            idle.withLock { $0.append(place) }
            if !place.wait(atMost: idleTime) {
                let isLeft = idle.withLock { idle in
                    let index = idle.firstIndex { $0 === place }
                    if let index { idle.remove(at: index) }
                    return index != nil
                }
                if isLeft { return }
                place.wait()
            }
            place.run()
        }
    }
}
