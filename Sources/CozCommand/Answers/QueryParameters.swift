// Reads the values for `$name` in statements from `--params`.

internal import CozDB

enum QueryParameters {
    /// - Throws: `usage` unless the text is an object whose values are scalars or, as in InfluxDB,
    ///   objects such as `{"identifier": "x"}`.
    static func read(_ text: String) throws(DatabaseError) -> [String: QueryParameter] {
        let json: JSONValue
        do throws(DatabaseError) {
            json = try JSONValue.read(text)
        } catch {
            throw DatabaseError(.usage, "--params: \(error.message)", remedy: error.remedy)
        }
        guard case .object(let members) = json else {
            throw DatabaseError(
                .usage,
                "--params: found another JSON value, "
                    + "expected an object such as {\"name\": \"value\"}")
        }
        var result: [String: QueryParameter] = [:]
        for member in members {
            let value = try parameter(member.value, member.key)
            let other = result.updateValue(value, forKey: member.key)
            // Texts that differ only in how their characters are composed are one key.
            guard other == nil else {
                throw DatabaseError(
                    .usage, "--params: found \"\(member.key)\" twice, expected each name once")
            }
        }
        return result
    }

    private static func parameter(
        _ value: JSONValue, _ name: String
    ) throws(DatabaseError) -> QueryParameter {
        switch value {
        case .string(let text): return .value(.string(text))
        case .integer(let number): return .value(.integer(number))
        case .number(let number): return .value(.float(number))
        case .boolean(let flag): return .value(.boolean(flag))
        case .object(let members) where members.count == 1:
            switch (members[0].key, members[0].value) {
            case ("identifier", .string(let text)), ("ident", .string(let text)):
                return .identifier(text)
            case ("regex", .string(let text)): return .regex(text)
            case ("duration", .string(let text)): return .duration(text)
            case ("duration", .integer(let number)): return .duration("\(number)ns")
            case ("string", .string(let text)): return .value(.string(text))
            case ("integer", .integer(let number)), ("int", .integer(let number)):
                return .value(.integer(number))
            case ("float", .number(let number)), ("number", .number(let number)):
                return .value(.float(number))
            case ("float", .integer(let number)), ("number", .integer(let number)):
                return .value(.float(Double(number)))
            case ("boolean", .boolean(let flag)): return .value(.boolean(flag))
            case ("list", .array(let items)):
                var values: [FieldValue] = []
                for item in items {
                    guard case .value(let value) = try parameter(item, name) else {
                        throw unusable(name)
                    }
                    values.append(value)
                }
                return .list(values)
            default: break
            }
        default: break
        }
        throw unusable(name)
    }

    private static func unusable(_ name: String) -> DatabaseError {
        DatabaseError(
            .usage,
            "--params: the value of \"\(name)\" is not usable; "
                + "expected a string, number, boolean, or an object such as "
                + "{\"regex\": \"^p\"}, {\"identifier\": \"dev\"}, {\"duration\": \"10m\"} or "
                + "{\"list\": [1, 2]}")
    }
}
