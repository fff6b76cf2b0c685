// Options of `import` for payloads of the Cozie app.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct PayloadOptions: ParsableArguments {
    enum Lambda: String, CaseIterable, ExpressibleByArgument {
        case iso, ms

        var form: CozieField.ArrivalForm { self == .iso ? .text : .milliseconds }
    }

    @Flag(
        help: """
            Pass over a comma before a closing bracket, as in the examples of Cozie's \
            documentation.
            """)
    var lenient = false

    @Flag(
        help: """
            Store nothing of a file of which an item or value cannot be stored. Needs \
            --format cozie-json.
            """)
    var atomic = false

    @Flag(
        help: """
            Add what Cozie's backend adds: timestamp_lambda, a missing \
            transmit_trigger, and arrival and trigger beside some fields.
            """)
    var enrich = false

    @Option(
        help: ArgumentHelp(
            "The fields beside which --enrich adds arrival and trigger (default: the catalogue's).",
            valueName: "field,field"))
    var enrichFields: String?

    @Option(
        help: """
            How --enrich writes arrivals: iso as text in X_lambda (default), ms as milliseconds \
            since 1970 UTC in X_lambda_ms.
            """)
    var lambda: Lambda?

    @Option(
        help: ArgumentHelp(
            """
            Keep the offset of each time from UTC in an integer field of this name, \
            in minutes east.
            """, valueName: "field"))
    var keepOffset: String?

    func validate() throws {
        if !enrich, enrichFields != nil {
            throw ValidationError("--enrich-fields belongs to --enrich, which is missing")
        }
        if !enrich, lambda != nil {
            throw ValidationError("--lambda belongs to --enrich, which is missing")
        }
        if let keepOffset, keepOffset.isEmpty || keepOffset == "time" {
            throw ValidationError(
                "--keep-offset: found \"\(keepOffset)\", expected the name of a field")
        }
    }

    /// Checks the options against the format, which is an option of the command.
    func validate(for format: ImportFormat) throws {
        // Whether a file is stored atomically must not depend on a guessed format.
        if atomic, format != .cozieJSON {
            throw ValidationError("--atomic needs --format cozie-json")
        }
        let isAsked = lenient || enrich || keepOffset != nil
        if isAsked, format != .cozieJSON, format != .auto {
            throw ValidationError(
                "--lenient, --enrich and --keep-offset belong to --format cozie-json, found "
                    + "--format \(format.rawValue)")
        }
    }

    var payload: CoziePayloadOptions {
        var options = CoziePayloadOptions()
        options.acceptsTrailingCommas = lenient
        options.isAtomic = atomic
        options.offsetField = keepOffset
        if enrich {
            let fields = enrichFields.map { $0.split(separator: ",").map(String.init) }
            options.enrichment = CozieEnrichment(form: (lambda ?? .iso).form, fields: fields)
        }
        return options
    }
}
