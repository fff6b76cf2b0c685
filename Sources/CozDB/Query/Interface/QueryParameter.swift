// The values of bound parameters, and the Swift types that can be one.

/// The value of a bound parameter (`$name` in a statement). It becomes a single token and is never
/// parsed as text, so no value can change the structure of the statement.
public enum QueryParameter: Hashable, Sendable {
    /// A number, string or boolean.
    case value(FieldValue)
    /// The name of an experiment, field, tag or function.
    case identifier(String)
    /// A regular expression, without slashes.
    case regex(String)
    /// A duration such as `10m`.
    case duration(String)
    /// The values of an `IN` in a condition: `WHERE id_participant IN $those`. An empty list
    /// contains no value.
    case list([FieldValue])
}

/// A type whose values can be bound to parameters of a statement.
///
/// Strings, booleans, floating-point numbers and integers of 32 and 64 bits with a sign are, and
/// `UInt32`. ``Timestamp`` is a time; compare `time` with it.
/// An array of these is the list of an `IN`.
/// ``QueryParameter`` itself is for names, regular expressions and durations:
///
///     try database.query(
///         "SELECT mean($field) FROM dev WHERE id_participant = $who AND time >= $since",
///         parameters: [
///             "field": QueryParameter.identifier("ts_heart_rate"), "who": id, "since": day,
///         ])
public protocol QueryParameterConvertible: Sendable {
    /// The parameter with this value.
    var queryParameter: QueryParameter { get }
}

extension QueryParameter: QueryParameterConvertible {
    /// The parameter itself.
    public var queryParameter: QueryParameter { self }
}

extension FieldValue: QueryParameterConvertible {
    /// The value as a parameter.
    public var queryParameter: QueryParameter { .value(self) }
}

extension Timestamp: QueryParameterConvertible {
    /// The nanoseconds since 1970, which a statement compares with `time`.
    public var queryParameter: QueryParameter { .value(.integer(nanoseconds)) }
}

extension String: QueryParameterConvertible {
    /// The text as a string value.
    public var queryParameter: QueryParameter { .value(.string(self)) }
}

extension Substring: QueryParameterConvertible {
    /// The text as a string value.
    public var queryParameter: QueryParameter { .value(.string(String(self))) }
}

extension Bool: QueryParameterConvertible {
    /// The boolean value.
    public var queryParameter: QueryParameter { .value(.boolean(self)) }
}

extension Double: QueryParameterConvertible {
    /// The number as a float value.
    public var queryParameter: QueryParameter { .value(.float(self)) }
}

extension Float: QueryParameterConvertible {
    /// The number as a float value.
    public var queryParameter: QueryParameter { .value(.float(Double(self))) }
}

extension Int: QueryParameterConvertible {
    /// The number as an integer value.
    public var queryParameter: QueryParameter { .value(.integer(Int64(self))) }
}

extension Int64: QueryParameterConvertible {
    /// The number as an integer value.
    public var queryParameter: QueryParameter { .value(.integer(self)) }
}

extension Int32: QueryParameterConvertible {
    /// The number as an integer value.
    public var queryParameter: QueryParameter { .value(.integer(Int64(self))) }
}

extension UInt32: QueryParameterConvertible {
    /// The number as an integer value.
    public var queryParameter: QueryParameter { .value(.integer(Int64(self))) }
}

extension Array: QueryParameterConvertible where Element: QueryParameterConvertible {
    /// The values as the list of an `IN`. Names, regular expressions and durations are plain texts
    /// in it.
    public var queryParameter: QueryParameter {
        .list(
            flatMap { element -> [FieldValue] in
                switch element.queryParameter {
                case .value(let value): [value]
                case .identifier(let text), .regex(let text), .duration(let text): [.string(text)]
                case .list(let values): values
                }
            })
    }
}
