// Parse speed of line protocol into batches, on one core and without a database.

internal import CozDB
internal import CozImport
internal import Glibc

enum ParseWorkload {
    static func run(path: String, repeats: Int) throws(DatabaseError) {
        let bytes = try readFile(path)
        var best = Double.infinity
        for _ in 0..<repeats {
            let start = Clock.now()
            var (points, values, refused) = (0, 0, 0)
            var parser = LineProtocolParser()
            parser.beginFile()
            var batch = WriteBatch()
            var offset = 0
            let chunkSize = 1 << 18
            while true {
                switch try parser.parse(into: &batch, points: 10_000) {
                case .needsInput where offset < bytes.count:
                    let end = min(bytes.count, offset + chunkSize)
                    parser.append(bytes.span.extracting(offset..<end))
                    offset = end
                    continue
                case .needsInput:
                    parser.finish()
                    continue
                case .batchFull, .finished:
                    break
                }
                if batch.isEmpty { break }
                points += batch.rowCount
                values += batch.valueCount
                refused += batch.refusals.count
                batch.removeAll()
            }
            let seconds = Clock.now() - start
            best = min(best, seconds)
            let rate = Double(bytes.count) / seconds / 1e6
            print(
                "\(Int(rate)) MB/s, \(Int(Double(points) / seconds)) rows/s, "
                    + "\(Int(Double(values) / seconds)) values/s: "
                    + "\(points) points, \(values) values, \(refused) refused lines")
        }
        print("best: \(Int(Double(bytes.count) / best / 1e6)) MB/s")
    }

    static func readFile(_ path: String) throws(DatabaseError) -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else {
            throw DatabaseError(.notFound, "cannot open", file: path)
        }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[0..<count])
        }
    }
}
