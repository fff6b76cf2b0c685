// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its flags are allowed in nothing that others depend on. Tools/fuzz builds it.
let package = Package(
    name: "cozfuzz",
    dependencies: [.package(name: "cozdb", path: "..")],
    targets: [
        .executableTarget(
            name: "cozfuzz",
            dependencies: [
                .product(name: "CozDB", package: "cozdb"),
                .product(name: "CozImport", package: "cozdb"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
                // The fuzzer brings `main`.
                .unsafeFlags(["-parse-as-library"]),
            ])
    ]
)
