// The embedding example of the README, verbatim: open, write, query, print.

import CozDB

let database = try Database.open("readme.cozdb")
var batch = WriteBatch()
for (minute, rate) in [71, 74, 72, 73].enumerated() {
    try batch.add(
        experiment: "dev", tags: ["id_participant": "p01"],
        time: Timestamp(nanoseconds: (1_709_280_000 + Int64(minute) * 60) * 1_000_000_000),
        fields: ["ts_heart_rate": .integer(Int64(rate))])
}
let report = try database.write(batch)  // durable when it returns
print("stored \(report.values) values")
let result = try database.query("SELECT mean(ts_heart_rate) FROM dev GROUP BY id_participant")
for series in result.series {
    let means = series.column("mean")?.doubles ?? []
    print(series.tag("id_participant") ?? "", means.compactMap(\.self))
}
try database.close()
