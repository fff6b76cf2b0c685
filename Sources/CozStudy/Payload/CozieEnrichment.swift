// The fields that Cozie's backend adds to the rows of the app, for databases that replace it.
//
// Source: cozie-apple-backend (e29a13c), write-influx-queue and write-influx-cozie,
// add_timestamp_lambda.py.

public import CozDB

/// The fields to add to each item of a payload: its arrival time and what triggered the upload.
///
/// - `timestamp_lambda` (or `timestamp_lambda_ms`): when the item arrived.
/// - `transmit_trigger`, or the name that the import gives it: `empty` if the item has none.
/// - `<field>_lambda` (or `<field>_lambda_ms`) and `<field>_trigger` for each of `fields` that has
///   a value in the item: the arrival time and the item's `transmit_trigger`.
///
/// A value that the item itself has under one of these names wins.
public struct CozieEnrichment: Hashable, Sendable {
    /// How arrival times are stored.
    public var form: CozieField.ArrivalForm
    /// The fields that get companions, by their name in items or by the name under which the import
    /// stores them (`ImportOptions.renames`). Companions are named after the stored name.
    public var fields: [String]
    /// When the payload arrived. Nil means the time when it is read.
    public var arrival: Timestamp?

    /// Creates an enrichment.
    ///
    /// - Parameters:
    ///   - form: text such as `2025-10-15T02:25:40.864000Z`, or milliseconds since 1970 UTC as a
    ///     float.
    ///   - fields: the fields that get companions. Nil means the catalogue's fields for `form`.
    ///   - arrival: when the payload arrived. Nil means the time when it is read.
    public init(
        form: CozieField.ArrivalForm = .text, fields: [String]? = nil, arrival: Timestamp? = nil
    ) {
        self.form = form
        self.fields = fields ?? CozieEnrichment.catalogueFields(form)
        self.arrival = arrival
    }

    /// Returns the catalogue fields for which the backend stores the arrival time in this form.
    public static func catalogueFields(_ form: CozieField.ArrivalForm) -> [String] {
        CozieCatalogue.v3.fields.filter { $0.arrivals.contains(form) }.map(\.name)
    }

    /// The field of the app that says what triggered an upload.
    static let trigger = "transmit_trigger"

    var suffix: String {
        switch form {
        case .text: "_lambda"
        case .milliseconds: "_lambda_ms"
        }
    }

    func value(_ arrival: Timestamp) -> FieldValue {
        switch form {
        case .text: .string(CozieEnrichment.text(arrival))
        case .milliseconds: .float(Double(arrival.nanoseconds / 1000) / 1000)
        }
    }

    /// Formats as `%Y-%m-%dT%H:%M:%S.%fZ`, always with six fraction digits.
    private static func text(_ time: Timestamp) -> String {
        let whole = time.text(fractionDigits: .nine)
        return whole.dropLast(4) + "Z"
    }
}
