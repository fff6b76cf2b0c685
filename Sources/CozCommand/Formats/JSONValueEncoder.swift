// An Encoder that makes a JSONValue. Members keep the order of the properties.

extension JSONValue {
    /// - Throws: Errors of the value's own `encode`.
    init(encoding value: some Encodable) throws {
        let encoder = JSONValueEncoder()
        try value.encode(to: encoder)
        self = encoder.node.value
    }
}

/// A JSON value under construction.
private final class JSONNode {
    private var single = JSONValue.null
    private var members: [(key: String, node: JSONNode)]?
    private var items: [JSONNode]?

    func set(_ value: JSONValue) { single = value }

    func beginObject() { members = members ?? [] }

    func beginArray() { items = items ?? [] }

    var count: Int { items?.count ?? 0 }

    func member(_ key: String) -> JSONNode {
        let node = JSONNode()
        members?.append((key, node))
        return node
    }

    func item() -> JSONNode {
        let node = JSONNode()
        items?.append(node)
        return node
    }

    var value: JSONValue {
        if let members {
            return .object(members.map { JSONValue.JSONMember(key: $0.key, value: $0.node.value) })
        }
        return items.map { .array($0.map(\.value)) } ?? single
    }
}

private struct JSONValueEncoder: Encoder {
    var node = JSONNode()
    var codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(KeyedNode<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return UnkeyedNode(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleNode(node: node, codingPath: codingPath)
    }
}

extension JSONNode {
    func encode(_ value: some Encodable, _ path: [any CodingKey]) throws {
        switch value {
        case let text as String: set(.string(text))
        case let flag as Bool: set(.boolean(flag))
        case let number as Double: set(.number(number))
        case let number as Float: set(.number(Double(number)))
        case let number as any FixedWidthInteger: set(.integer(Int64(clamping: number)))
        default: try value.encode(to: JSONValueEncoder(node: self, codingPath: path))
        }
    }
}

private struct KeyedNode<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws { node.member(key.stringValue).set(.null) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try node.member(key.stringValue).encode(value, codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        JSONValueEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
            .container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONValueEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
            .unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        JSONValueEncoder(node: node.member("super"), codingPath: codingPath)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        JSONValueEncoder(node: node.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct UnkeyedNode: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() throws { node.item().set(.null) }

    func encode(_ value: some Encodable) throws { try node.item().encode(value, codingPath) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        JSONValueEncoder(node: node.item(), codingPath: codingPath).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONValueEncoder(node: node.item(), codingPath: codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        JSONValueEncoder(node: node.item(), codingPath: codingPath)
    }
}

private struct SingleNode: SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil() throws { node.set(.null) }

    func encode(_ value: some Encodable) throws { try node.encode(value, codingPath) }
}
