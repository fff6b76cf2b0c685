// The time to open and close a database, and to answer a first small query.

internal import CozDB

enum OpenWorkload {
    static func run(path: String, repeats: Int) throws(DatabaseError) {
        let info = try Database.open(path, access: .readOnly).info()
        let rows = info.experiments.reduce(0) { $0 + $1.rows }
        print("\(rows) rows in \(info.segments) segments, \(info.diskBytes) bytes")
        let name = info.experiments.first?.name ?? ""
        var (reading, answer, writing, closing) = (
            Durations(), Durations(), Durations(), Durations()
        )
        for _ in 0..<repeats {
            var time = Clock.now()
            func lap(_ durations: inout Durations) {
                let now = Clock.now()
                durations.append(now - time)
                time = now
            }
            let reader = try Database.open(path, access: .readOnly)
            lap(&reading)
            _ = try reader.query("SHOW FIELD KEYS FROM \"\(name)\" LIMIT 1")
            lap(&answer)
            let writer = try Database.open(path)
            lap(&writing)
            try writer.close()
            lap(&closing)
        }
        for (name, times) in [
            ("open for reading", reading), ("first answer", answer),
            ("open for writing", writing), ("close unchanged", closing),
        ] {
            print(
                "\(name.padded(to: 20))median \(digits(times.median * 1e6)) us"
                    + "   least \(digits(times.least * 1e6)) us")
        }
    }
}
