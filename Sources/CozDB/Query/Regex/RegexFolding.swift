// Simple case folding of Unicode 14.0.0 (CaseFolding.txt), as `(?i)` of Go uses it. Written by
// Tools/regex-scripts.

enum RegexFolding {
    /// The scalars that differ from another one only by case.
    static func others(_ value: UInt32) -> [UInt32] {
        if let group = groups[value] { return group.filter { $0 != value } }
        guard let scalar = Unicode.Scalar(value) else { return [] }
        var others: [UInt32] = []
        for mapped in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
            let scalars = mapped.unicodeScalars
            if let first = scalars.first, scalars.count == 1, first != scalar {
                others.append(first.value)
            }
        }
        return others
    }

    private static let groups: [UInt32: [UInt32]] = {
        var groups: [UInt32: [UInt32]] = [:]
        for text in table.parts(separatedBy: ",") {
            let words = text.parts(separatedBy: " ", keepsEmpty: false)
            let group = words.compactMap { UInt32($0, radix: 16) }
            for value in group { groups[value] = group }
        }
        return groups
    }()

    /// The groups that are not one lowercase and one uppercase scalar which map to each other.
    private static let table = """
        4b 6b 212a, 53 73 17f, b5 39c 3bc, c5 e5 212b, df 1e9e, 131, 1c4 1c5 1c6, 1c7 1c8 1c9, \
        1ca 1cb 1cc, 1f1 1f2 1f3, 345 399 3b9 1fbe, 392 3b2 3d0, 395 3b5 3f5, 398 3b8 3d1 3f4, \
        39a 3ba 3f0, 3a0 3c0 3d6, 3a1 3c1 3f1, 3a3 3c2 3c3, 3a6 3c6 3d5, 3a9 3c9 2126, \
        412 432 1c80, 414 434 1c81, 41e 43e 1c82, 421 441 1c83, 422 442 1c84 1c85, 42a 44a 1c86, \
        462 463 1c87, 1c88 a64a a64b, 1e60 1e61 1e9b, 1f80 1f88, 1f81 1f89, 1f82 1f8a, 1f83 1f8b, \
        1f84 1f8c, 1f85 1f8d, 1f86 1f8e, 1f87 1f8f, 1f90 1f98, 1f91 1f99, 1f92 1f9a, 1f93 1f9b, \
        1f94 1f9c, 1f95 1f9d, 1f96 1f9e, 1f97 1f9f, 1fa0 1fa8, 1fa1 1fa9, 1fa2 1faa, 1fa3 1fab, \
        1fa4 1fac, 1fa5 1fad, 1fa6 1fae, 1fa7 1faf, 1fb3 1fbc, 1fc3 1fcc, 1ff3 1ffc
        """
}
