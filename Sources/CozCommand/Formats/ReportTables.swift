// Tables for people about the contents of a database.

internal import CozDB
internal import CozPlatform

enum ReportTables {
    /// - Parameter elsewhere: What shows the columns for which the terminal has no room.
    static func experiments(_ info: DatabaseInfo, elsewhere: String) -> String {
        var experiments = TextTable(
            [
                .init("experiment"), .init("identity"), .init("types"),
                .init("series", right: true),
                .init("rows", right: true), .init("values", right: true),
                .init("fields", right: true), .init("bytes", right: true), .init("first time"),
                .init("last time"),
            ], cellWidthMax: .max)
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

    /// - Parameters:
    ///   - schema: The schema of the experiment that has the columns.
    ///   - elsewhere: What shows the columns for which the terminal has no room.
    static func columns(
        _ columns: [ColumnInfo], of schema: ExperimentSchema?, elsewhere: String
    ) -> String {
        let texts = columns.map { ColumnText($0.column, in: schema) }
        let isDescribed = texts.contains { !$0.description.isEmpty }
        var table = TextTable(
            [
                .init("name"), .init("kind"), .init("type"), .init("unit"),
                .init("count", right: true),
            ] + (isDescribed ? [.init("description")] : []) + [
                .init("first time"), .init("last time"), .init("bytes", right: true),
                .init("encodings"),
            ], cellWidthMax: .max)
        for (info, text) in zip(columns, texts) {
            table.append(
                [
                    info.column.name, info.column.kind.text, info.column.type.name, text.unit,
                    PlainText.grouped(info.count),
                ] + (isDescribed ? [text.description] : []) + [
                    info.firstTime?.fullText ?? "", info.lastTime?.fullText ?? "",
                    PlainText.grouped(info.bytes),
                    info.encodings.map { "\($0.name) \($0.blocks)" }.joined(separator: ", "),
                ])
        }
        let width = Terminal.columns(STDOUT_FILENO)
        return table.takeText(widthMax: width, elsewhere: elsewhere) + questions(texts)
    }

    /// The questions that fields answer, with their options.
    private static func questions(_ texts: [ColumnText]) -> String {
        let asked = texts.filter { !$0.question.isEmpty || !$0.options.isEmpty }
        if asked.isEmpty { return "" }
        var text = "\nquestions:\n"
        for field in asked {
            text += "\(PlainText.escaped(field.name)): \(PlainText.escaped(field.question))\n"
            for option in field.options { text += "    \(PlainText.escaped(option))\n" }
        }
        return text
    }
}
