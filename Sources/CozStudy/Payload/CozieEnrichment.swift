// What Cozie's backend adds to the rows that the app sends, for databases that take its place.
//
// Source: cozie-apple-backend (e29a13c), write-influx-queue and write-influx-cozie,
// add_timestamp_lambda.py.

public import CozDB

/// Fields added to each item of a payload: when it arrived, and what made the app send it.
///
/// - `timestamp_lambda` (or `timestamp_lambda_ms`): when the item arrived.
/// - `transmit_trigger`: `empty`, where the item has none.
/// - `<field>_lambda` (or `<field>_lambda_ms`) and `<field>_trigger` for each field of a list that
///   has a value in the item: when it arrived, and the item's `transmit_trigger`.
///
/// What an item has itself under these names stays.
public struct CozieEnrichment: Hashable, Sendable {
    /// How times of arrival are written.
    public var form: CozieField.ArrivalForm
    /// The fields that get companions, by the names in items or those that the import stores them
    /// under (`ImportOptions.renames`); companions are named after the latter.
    public var fields: [String]
    /// When the payload arrived; nil: the clock when it is read.
    public var arrival: Timestamp?

    /// - Parameters:
    ///   - form: text is `2025-10-15T02:25:40.864000Z`, milliseconds are a float since 1970 UTC.
    ///   - fields: that get companions; nil: those of the catalogue for this form.
    ///   - arrival: nil: the clock when the payload is read.
    public init(
        form: CozieField.ArrivalForm = .text, fields: [String]? = nil, arrival: Timestamp? = nil
    ) {
        self.form = form
        self.fields = fields ?? CozieEnrichment.catalogueFields(form)
        self.arrival = arrival
    }

    /// The fields beside which the backend writes their arrival in a form.
    public static func catalogueFields(_ form: CozieField.ArrivalForm) -> [String] {
        CozieCatalogue.v3.fields.filter { $0.arrivals.contains(form) }.map(\.name)
    }

    /// What follows a name in the field of its arrival.
    var suffix: String {
        switch form {
        case .text: "_lambda"
        case .milliseconds: "_lambda_ms"
        }
    }

    /// The value of an arrival in this form.
    func value(_ arrival: Timestamp) -> FieldValue {
        switch form {
        case .text: .string(CozieEnrichment.text(arrival))
        case .milliseconds: .float(Double(arrival.nanoseconds / 1000) / 1000)
        }
    }

    /// `%Y-%m-%dT%H:%M:%S.%fZ`: always six digits of a second.
    private static func text(_ time: Timestamp) -> String {
        let whole = time.text(fractionDigits: .nine)
        return whole.dropLast(4) + "Z"
    }
}
