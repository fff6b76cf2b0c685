// The new names of fields and tags, as the points of an import are stored under them.

/// Renames of an import. A point that has both the old and the new name keeps both.
package struct Renames: Sendable {
    private let names: [String: String]

    package init(_ names: [String: String] = [:]) {
        self.names = names
    }

    var isEmpty: Bool { names.isEmpty }

    /// Returns the name under which a field or tag is stored.
    package func stored(_ name: String) -> String {
        // Strings are equal if they differ in Unicode normalization only, so compare bytes too.
        guard let index = names.index(forKey: name),
            names.keys[index].utf8.elementsEqual(name.utf8)
        else { return name }
        return names.values[index]
    }

    /// Returns the tags of a point under the names under which they are stored.
    package func renamed(
        _ tags: [(name: String, value: String)]
    ) -> [(name: String, value: String)] {
        if isEmpty { return tags }
        var taken = Set(tags.map { Array($0.name.utf8) })
        return tags.map { name, value in
            let new = stored(name)
            return taken.insert(Array(new.utf8)).inserted ? (new, value) : (name, value)
        }
    }

    /// Returns whether one of the tags of a point is stored under a name.
    package func areStored(_ tags: [String], as name: String) -> Bool {
        if tags.contains(where: { stored($0).utf8.elementsEqual(name.utf8) }) { return true }
        let other = stored(name)
        return tags.contains { $0.utf8.elementsEqual(name.utf8) }
            && tags.contains { $0.utf8.elementsEqual(other.utf8) }
    }

    /// Returns why the options cannot name a participant under a tag; nil if they can.
    package func problem(ofParticipantTag tag: String) -> String? {
        let target = stored(tag)
        guard !target.utf8.elementsEqual(tag.utf8) else { return nil }
        return "found a rename of \"\(tag)\" to \"\(target)\", the tag that names participants, "
            + "and a participant, or a column of participants; choose another tag for them"
    }
}
