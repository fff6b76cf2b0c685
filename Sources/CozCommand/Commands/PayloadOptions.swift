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
            Accept a comma before a closing bracket, as in the examples of the Cozie documentation.
            """)
    var lenient = false

    @Flag(
        help: """
            Store nothing of a file if one of its items or values cannot be stored. Requires \
            --format cozie-json.
            """)
    var atomic = false

    @Flag(
        help: """
            Add what the Cozie backend adds: timestamp_lambda, transmit_trigger where it is \
            missing, and the arrival time and trigger of some fields.
            """)
    var enrich = false

    @Option(
        help: ArgumentHelp(
            "Fields for which --enrich adds arrival time and trigger "
                + "(default: as in the catalogue).",
            valueName: "field,field"))
    var enrichFields: String?

    @Option(
        help: """
            How --enrich writes arrival times: iso writes text to X_lambda (default), ms writes \
            milliseconds since 1970 UTC to X_lambda_ms.
            """)
    var lambda: Lambda?

    @Option(
        help: ArgumentHelp(
            """
            Store the UTC offset of each time in an integer field of this name, in minutes east.
            """, valueName: "field"))
    var keepOffset: String?

    func validate() throws {
        if !enrich, enrichFields != nil {
            throw ValidationError("found --enrich-fields without --enrich, expected both")
        }
        if !enrich, lambda != nil {
            throw ValidationError("found --lambda without --enrich, expected both")
        }
        if let keepOffset, keepOffset.isEmpty || keepOffset == "time" {
            throw ValidationError(
                "--keep-offset: found \"\(keepOffset)\", expected a field name other than time")
        }
    }

    /// Checks the options against the format, which is an option of the command.
    func validate(for format: ImportFormat) throws {
        // Whether a file is stored atomically must not depend on a guessed format.
        if atomic, format != .cozieJSON {
            throw ValidationError(
                "found --atomic with --format \(format.rawValue), expected --format cozie-json")
        }
        let isAsked = lenient || enrich || keepOffset != nil
        if isAsked, format != .cozieJSON, format != .auto {
            throw ValidationError(
                "found --lenient, --enrich or --keep-offset with --format \(format.rawValue), "
                    + "expected --format cozie-json")
        }
    }

    var payload: CoziePayloadOptions {
        var options = CoziePayloadOptions()
        options.acceptsTrailingCommas = lenient
        options.isAtomic = atomic
        options.offsetField = keepOffset
        if enrich {
            let fields = enrichFields.map { $0.parts(separatedBy: ",", keepsEmpty: false) }
            options.enrichment = CozieEnrichment(form: (lambda ?? .iso).form, fields: fields)
        }
        return options
    }
}
