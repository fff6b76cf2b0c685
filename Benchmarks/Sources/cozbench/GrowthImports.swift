// The axes of `growth` that measure an import.

internal import CozDB
internal import CozImport
internal import CozStudy

extension GrowthAxis {
    // MARK: - Line protocol

    static let lines = [
        GrowthAxis(name: "fields", counts: [4000, 8000, 16_000, 30_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p ")
            for number in 0..<count {
                try file.append("\(number > 0 ? "," : "")f\(number)=\(number * 37 % 1000).5")
            }
            try file.append(" 1700000000000000000\n")
        },
        GrowthAxis(name: "equal-fields", counts: [4000, 8000, 16_000, 30_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p ")
            for number in 0..<count { try file.append("\(number > 0 ? "," : "")f\(number)=1") }
            try file.append(" 1700000000000000000\n")
        },
        GrowthAxis(name: "tags", counts: [4000, 8000, 16_000, 29_000]) {
            count, file throws(DatabaseError) in
            try file.append("m,id_participant=p")
            for number in 0..<count { try file.append(",t\(number)=v\(number)") }
            try file.append(" x=1 1700000000000000000\n")
        },
        GrowthAxis(name: "sparse-fields", counts: [2000, 4000, 8000, 16_000]) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f\(number)=1 1700000000000000000\n")
            }
        },
        GrowthAxis(
            name: "merged-sparse", counts: [4000, 8000, 16_000, 30_000], importCount: 2
        ) { count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m,id_participant=p\(number) f\(number)=1 1700000000000000000\n")
            }
        },
        GrowthAxis(name: "experiments", counts: [500, 1000, 2000, 4000]) {
            count, file throws(DatabaseError) in
            for number in 0..<count {
                try file.append("m\(number),id_participant=p x=1 1700000000000000000\n")
            }
        },
    ]

    // MARK: - Other formats

    static let formats = [
        GrowthAxis(name: "csv-columns", counts: widths, options: { _ in table }, write: writeTable),
        GrowthAxis(
            name: "renames", counts: widths,
            options: { count in
                var options = table
                for number in 0..<count { options.renames["c\(number)"] = "d\(number)" }
                return options
            }, write: writeTable),
        GrowthAxis(
            name: "skipped-columns", counts: widths,
            options: { count in
                var options = table
                options.table.ignoredColumns = (1..<count).map { "c\($0)" }
                return options
            }, write: writeTable),
        GrowthAxis(name: "csv-header-bytes", counts: sizes, options: { _ in table }) {
            count, file throws(DatabaseError) in
            try file.append("time,id_participant,x,")
            // A name has at most 65,535 bytes.
            for number in 0..<count / 8000 {
                for _ in 0..<8000 { try file.append("aaaaaaaa") }
                try file.append("\(number),")
            }
            try file.append("y\n2024-01-01T00:00:00Z,p,1\n")
        },
        GrowthAxis(name: "json-fields", counts: widths, options: { _ in objects }) {
            count, file throws(DatabaseError) in
            try file.append(#"{"time":"2024-01-01T00:00:00Z","id_participant":"p""#)
            for number in 0..<count { try file.append(#","c\#(number)":\#(number).5"#) }
            try file.append("}\n")
        },
        GrowthAxis(name: "detected-header", counts: sizes, options: { _ in detected }) {
            count, file throws(DatabaseError) in
            try file.append("#a")
            for _ in 0..<count { try file.append(",a,a,a,a") }
            try file.append("\n")
        },
        GrowthAxis(name: "comment-bytes", counts: sizes) { count, file throws(DatabaseError) in
            try file.append("#")
            for _ in 0..<count { try file.append("aaaaaaaa") }
            try file.append("\nm,id_participant=p x=1 1\n")
        },
        GrowthAxis(name: "refused-lines", counts: sizes) { count, file throws(DatabaseError) in
            for _ in 0..<count { try file.append("x\n") }
        },
        GrowthAxis(name: "refused-values", counts: sizes) { count, file throws(DatabaseError) in
            try file.append("m,id_participant=p x=1 1\n")
            for number in 0..<count {
                try file.append("m,id_participant=p x=\"\(number)\" \(number)\n")
            }
        },
    ]

    private static let widths = [7500, 15_000, 30_000]
    private static let sizes = [500_000, 1_000_000, 2_000_000]

    private static var table: ImportOptions {
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "m"
        return options
    }

    private static var objects: ImportOptions {
        var options = table
        options.format = .ndjson
        return options
    }

    private static var detected: ImportOptions {
        var options = ImportOptions()
        options.formats = [.cozieCSV, .beiwe(), .annotatedCSV, .influxCSV, .csv, .lineProtocol]
        return options
    }

    /// Writes a table with a row of `count` numbers.
    private static func writeTable(_ count: Int, _ file: OutputFile) throws(DatabaseError) {
        try file.append("time,id_participant")
        for number in 0..<count { try file.append(",c\(number)") }
        try file.append("\n2024-01-01T00:00:00Z,p")
        for number in 0..<count { try file.append(",\(number).5") }
        try file.append("\n")
    }
}
