// Many short sessions, as of a program that is started for each delivery: open, write, close.

internal import CozDB

enum SessionsWorkload {
    /// - Parameter directory: Path of the new database.
    static func run(directory: String, sessions: Int, rows: Int) throws(DatabaseError) {
        var random = SplitMix(state: 1)
        var times = Durations()
        var segmentsMax = 0
        let writtenBytesAtStart = try ProcessCosts.writtenBytes()
        for session in 0..<sessions {
            let batch = try delivery(session, rows: rows, &random)
            let start = Clock.now()
            let database = try Database.open(directory)
            _ = try database.write(batch)
            try database.close()
            times.append(Clock.now() - start)
            let info = try Database.open(directory, access: .readOnly).info()
            segmentsMax = max(segmentsMax, info.segments)
        }
        let written = try ProcessCosts.writtenBytes() - writtenBytesAtStart
        let info = try Database.open(directory, access: .readOnly).info()
        let values = info.experiments.reduce(0) { $0 + $1.values }
        print(
            "\(sessions) sessions of \(rows) rows: median \(digits(times.median * 1e3)) ms, "
                + "99 % \(digits(times.part(0.99) * 1e3)) ms, "
                + "most \(digits(times.part(1) * 1e3)) ms"
        )
        print("segments            \(info.segments), at most \(segmentsMax)")
        print(
            "on disk             \(info.diskBytes) bytes, "
                + "\(digits(Double(info.diskBytes) / Double(max(1, values)))) a value")
        print(
            "written             \(written) bytes: "
                + "\(digits(Double(written) / Double(max(1, info.diskBytes)))) times what is at "
                + "rest"
        )
        let database = try Database.open(directory)
        try database.compact()
        try database.close()
        let least = try Database.open(directory, access: .readOnly).info().diskBytes
        print(
            "merged to one       \(least) bytes: at rest it was "
                + "\(digits(Double(info.diskBytes) / Double(max(1, least)))) times that")
    }

    /// What a watch sends: one value per minute of two fields, and the trigger of the transmission.
    static func delivery(
        _ session: Int, rows: Int, _ random: inout SplitMix
    ) throws(DatabaseError) -> WriteBatch {
        var batch = WriteBatch()
        let participant = "p\(session % 20)"
        let start = 1_709_280_000 + Int64(session / 20) * Int64(rows) * 60
        for row in 0..<rows {
            let seconds = start + Int64(row) * 60 + Int64.random(in: 0..<30, using: &random)
            try batch.add(
                experiment: "demo", tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: seconds * 1_000_000_000),
                fields: [
                    "ts_heart_rate": .integer(Int64.random(in: 55..<110, using: &random)),
                    "ts_step_count": .float(Double(Int.random(in: 0..<1200, using: &random)) / 10),
                    "transmit_trigger": .string(row % 7 == 0 ? "push" : "background_task"),
                ])
        }
        return batch
    }
}
