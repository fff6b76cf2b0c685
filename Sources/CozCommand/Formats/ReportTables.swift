// What a database holds, as tables for people.

internal import CozDB
internal import Glibc

enum ReportTables {
    /// - Parameter elsewhere: what shows the columns that a terminal has no room for.
    static func experiments(_ info: DatabaseInfo, elsewhere: String) -> String {
        var experiments = TextTable([
            .init("experiment"), .init("identity"), .init("types"), .init("series", right: true),
            .init("rows", right: true), .init("values", right: true),
            .init("fields", right: true), .init("bytes", right: true), .init("first time"),
            .init("last time"),
        ])
        for experiment in info.experiments {
            experiments.append([
                experiment.name, experiment.identity.text, experiment.typeRule.text,
                PlainText.grouped(experiment.series), PlainText.grouped(experiment.rows),
                PlainText.grouped(experiment.values), PlainText.grouped(experiment.fields),
                PlainText.size(experiment.bytes), experiment.firstTime?.fullText ?? "",
                experiment.lastTime?.fullText ?? "",
            ])
        }
        return experiments.takeText(
            widthMax: Terminal.columns(STDOUT_FILENO), elsewhere: elsewhere)
    }

    /// - Parameter elsewhere: what shows the columns that a terminal has no room for.
    static func columns(_ columns: [ColumnInfo], elsewhere: String) -> String {
        var table = TextTable([
            .init("name"), .init("kind"), .init("type"), .init("unit"),
            .init("count", right: true), .init("first time"), .init("last time"),
            .init("bytes", right: true), .init("encodings"),
        ])
        for info in columns {
            table.append([
                info.column.name, info.column.kind.text, info.column.type.name,
                info.column.unit, PlainText.grouped(info.count), info.firstTime?.fullText ?? "",
                info.lastTime?.fullText ?? "", PlainText.grouped(info.bytes),
                info.encodings.map { "\($0.name) \($0.blocks)" }.joined(separator: ", "),
            ])
        }
        return table.takeText(
            widthMax: Terminal.columns(STDOUT_FILENO), elsewhere: elsewhere)
    }
}
