// swift-tools-version: 6.2
import PackageDescription

// A package of its own: users of the database do not build its benchmarks.
let package = Package(
    name: "cozbench",
    dependencies: [.package(name: "cozdb", path: "..")],
    targets: [
        .executableTarget(
            name: "cozbench",
            dependencies: [
                .product(name: "CozDB", package: "cozdb"),
                .product(name: "CozImport", package: "cozdb"),
                .product(name: "CozStudy", package: "cozdb"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
            ])
    ]
)
