// The progress of an import on standard error: a bar for people, lines for programs.

internal import ArgumentParser
internal import CozDB
internal import CozImport
internal import CozPlatform
internal import Synchronization

struct ProgressDisplay {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto, bar, plain, none
    }

    private static let interval = Duration.milliseconds(100)

    private let mode: Mode
    private let start = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?

    /// - Parameter mode: `auto` shows a bar on a terminal and nothing elsewhere.
    init(_ mode: Mode) {
        self.mode = mode == .auto ? (Terminal.isTerminal(STDERR_FILENO) ? .bar : .none) : mode
    }

    /// Reports a durable commit.
    ///
    /// - Parameter points: Points read so far from all files, stored or refused.
    func committed(points: Int) {
        if mode == .plain { StandardError.writeLine("committed \(points)") }
    }

    /// - Parameters:
    ///   - bytes: Bytes read so far, compressed if the file is.
    ///   - total: Size of the input; nil if unknown, as for a pipe.
    mutating func advanced(points: Int, bytes: Int, total: Int?) {
        let now = ContinuousClock.now
        guard mode == .bar, lastDrawn.map({ now - $0 >= ProgressDisplay.interval }) ?? true
        else { return }
        lastDrawn = now
        draw(points: points, bytes: bytes, total: total, elapsed: now - start)
    }

    /// Reports that all points are durable and only merging remains.
    mutating func merging() {
        guard mode == .bar else { return }
        lastDrawn = ContinuousClock.now
        let seconds = ProgressDisplay.clock((ContinuousClock.now - start) / .seconds(1))
        StandardError.draw("\rall points durable after \(seconds), merging segments\u{1B}[K")
    }

    /// Removes the bar, so that the next output starts on a clean line.
    mutating func end() {
        if lastDrawn != nil { StandardError.draw("\r\u{1B}[K") }
        lastDrawn = nil
    }

    private func draw(points: Int, bytes: Int, total: Int?, elapsed: Duration) {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let speed = Double(bytes) / seconds
        var text =
            PlainText.counted(points, "point")
            + "  \(PlainText.fixed(speed / 1e6, digits: 1)) MB/s"
        var bar = ""
        if let total, total > 0 {
            let share = min(1, Double(bytes) / Double(total))
            let left = share > 0 ? seconds / share - seconds : 0
            text += "  \(ProgressDisplay.clock(left)) left"
            let room = (Terminal.columns(STDERR_FILENO) ?? 80) - text.utf8.count - 12
            if room >= 10 {
                let full = Int(Double(min(room, 40)) * share)
                bar =
                    "[" + String(repeating: "#", count: full)
                    + String(repeating: ".", count: min(room, 40) - full) + "] "
            }
            bar += PlainText.padded("\(Int(share * 100)) %", to: 5, right: true) + "  "
        }
        StandardError.draw("\r\(bar)\(text)\u{1B}[K")
    }

    /// `1:02:03` or `2:03`.
    static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        let tail = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let minutes = whole / 60
        if minutes < 60 { return "\(minutes):\(tail(whole % 60))" }
        return "\(minutes / 60):\(tail(minutes % 60)):\(tail(whole % 60))"
    }
}

/// A display that the importer's two threads share.
final class SharedProgress: Sendable {
    private let display: Mutex<ProgressDisplay>

    init(_ mode: ProgressDisplay.Mode) {
        display = Mutex(ProgressDisplay(mode))
    }

    func committed(_ points: Int) {
        display.withLock { $0.committed(points: points) }
    }

    func advanced(_ progress: ImportProgress) {
        display.withLock {
            $0.advanced(
                points: progress.points, bytes: progress.readBytes, total: progress.totalBytes)
        }
    }

    func merging() {
        display.withLock { $0.merging() }
    }

    func end() {
        display.withLock { $0.end() }
    }
}
