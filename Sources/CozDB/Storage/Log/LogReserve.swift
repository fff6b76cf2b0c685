// Space of a log that is written with zeros before frames need it, off the way of commits.
//
// A sync of blocks that were written before takes about half the time of one that makes the file
// longer, or that fills space which was only allocated: for those the file system must make its own
// records durable as well. Measured on ext4: 70 us against 114 to 133. The zeros are left for the
// sync of a commit to make durable, once in some thousand commits: a sync of their own would see a
// disk's error in place of the commit's.

/// The zeros behind the frames of one log file.
final class LogReserve: Sendable {
    /// Runs work on another thread, or at once.
    typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

    private enum Work {
        case none
        case asked
        case writing
    }

    private struct State {
        /// Up to here the file was written.
        var endBytes: Int
        var work = Work.none
        /// After a failure frames make the file longer by themselves, and find out the reason.
        var isBroken = false
    }

    private let file: any File
    private let background: Background
    private let state: Monitor<State>

    /// What a new log begins with: enough for the first hundreds of small commits.
    static let firstSizeBytes = 128 << 10
    /// Zeros written at a time: a frame of a thousand commits, or a thousand frames of one.
    static let chunkSizeBytes = 1 << 20
    /// With less than this before them, frames ask for more.
    static let leastSizeBytes = 64 << 10
    /// Frames beyond this size gain nothing: the time of their sync is that of their bytes.
    static let frameSizeBytesMax = 64 << 10

    private static let zeros = [UInt8](repeating: 0, count: chunkSizeBytes)

    /// - Parameter file: has `firstSizeBytes`.
    init(_ file: any File, background: @escaping Background) {
        self.file = file
        self.background = background
        state = Monitor(State(endBytes: LogReserve.firstSizeBytes))
    }

    /// Call before a frame is written to this place. Returns when nobody else writes there, and
    /// has more space prepared where little is left.
    func take(_ place: Range<Int>) {
        // Where the frame ends beyond the zeros, those that are being written would overwrite it.
        let isWanted = state.withLock(
            when: { place.upperBound <= $0.endBytes || $0.work != .writing }
        ) { state in
            state.endBytes = max(state.endBytes, place.upperBound)
            let isLow = state.endBytes - place.upperBound < LogReserve.leastSizeBytes
            let isSmall = place.count <= LogReserve.frameSizeBytesMax
            guard isLow, isSmall, state.work == .none, !state.isBroken else { return false }
            state.work = .asked
            return true
        }
        if isWanted { background { self.prepare() } }
    }

    /// Writes the next zeros. Frames go to the space before them meanwhile.
    private func prepare() {
        let start = state.withLock { state in
            state.work = .writing
            return state.endBytes
        }
        var isWritten = true
        do throws(FileError) {
            try file.writeAll(LogReserve.zeros.span, at: start)
        } catch {
            isWritten = false
        }
        state.withLock { state in
            state.work = .none
            state.isBroken = !isWritten
            if isWritten { state.endBytes = start + LogReserve.chunkSizeBytes }
        }
    }
}
