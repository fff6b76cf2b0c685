// Parse speed of Cozie app payloads on one core without a database, and the latency of committing a
// payload of 100 items without a sync.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import Glibc

enum PayloadWorkload {
    /// - Parameters:
    ///   - path: A file with a JSON array of items.
    ///   - directory: Where the database for the commits is created.
    static func run(path: String, repeats: Int, directory: String) throws(DatabaseError) {
        try parse(path, repeats)
        try commit(path, directory)
    }

    /// Reads the file with the reader that an import uses. The file is in the page cache.
    private static func parse(_ path: String, _ repeats: Int) throws(DatabaseError) {
        var best = Double.infinity
        for _ in 0..<repeats {
            let file = try InputFile(path: path)
            var reader = try InputFormat.cozieJSON().makeReader(ImportOptions())
            try reader.begin(file)
            var batch = WriteBatch()
            var (points, values, refused) = (0, 0, 0)
            let start = cpuSeconds()
            var isFinished = false
            while !isFinished {
                batch.removeAll()
                isFinished = try reader.read(
                    file, into: &batch, limits: BatchLimits(points: 10_000, sizeBytes: 32 << 20))
                points += batch.rowCount
                values += batch.valueCount
                refused += batch.refusals.count
            }
            let seconds = cpuSeconds() - start
            best = min(best, Double(seconds) / Double(file.decodedBytes))
            print(
                "\(Int(Double(file.decodedBytes) / seconds / 1e6)) MB/s of one core, "
                    + "\(Int(Double(points) / seconds)) items/s, "
                    + "\(Int(Double(values) / seconds)) values/s: "
                    + "\(points) items, \(values) values, \(refused) refusals")
        }
        print("best: \(Int(1 / best / 1e6)) MB/s")
    }

    /// CPU seconds of this process. Other programs do not add to them.
    private static func cpuSeconds() -> Double {
        var time = timespec()
        // Sound: fills in a local value.
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Commits payloads of 100 items. Each takes one call to parse and one to store, as in a
    /// service.
    private static func commit(_ path: String, _ directory: String) throws(DatabaseError) {
        let payloads = try chunks(path, itemCount: 100)
        guard !payloads.isEmpty else { return }
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 60_000)
        options.presets = [.cozieV3]
        let database = try Database.open(directory, options: options)
        var reading: [Double] = []
        var storing: [Double] = []
        while reading.count < 500 {
            for payload in payloads {
                let start = Clock.now()
                let read = try CoziePayload(payload)
                let middle = Clock.now()
                _ = try read.write(to: database)
                reading.append(middle - start)
                storing.append(Clock.now() - middle)
            }
        }
        let both = zip(reading, storing).map { $0 + $1 }
        print("payloads of 100 items, without a sync, in microseconds (median, 99 %):")
        for (name, seconds) in [("read", reading), ("store", storing), ("both", both)] {
            let sorted = seconds.sorted()
            let (half, most) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            print("  \(name)  \(Int(half * 1e6))  \(Int(most * 1e6))")
        }
        try database.close()
    }

    /// Splits the items of a file into arrays of `itemCount`.
    private static func chunks(
        _ path: String, itemCount: Int
    ) throws(DatabaseError) -> [[UInt8]] {
        let bytes = try ParseWorkload.readFile(path)
        var items: [ArraySlice<UInt8>] = []
        var (depth, start) = (0, 0)
        var (isInString, isEscaped) = (false, false)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isInString
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "{") where !isInString:
                if depth == 0 { start = index }
                depth += 1
            case UInt8(ascii: "}") where !isInString:
                depth -= 1
                if depth == 0 { items.append(bytes[start...index]) }
            default: break
            }
        }
        return stride(from: 0, to: items.count - itemCount + 1, by: itemCount).map { start in
            let chunk = items[start..<(start + itemCount)].joined(separator: ",".utf8)
            return Array("[".utf8) + Array(chunk) + Array("]".utf8)
        }
    }
}
