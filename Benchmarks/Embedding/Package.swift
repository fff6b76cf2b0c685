// swift-tools-version: 6.2
import PackageDescription

// A package of its own for GRDB, which nothing else needs.
let package = Package(
    name: "embedding",
    dependencies: [
        .package(name: "cozdb", path: "../..", traits: ["Service"]),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.0.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "embedding",
            dependencies: [
                .product(name: "CozDB", package: "cozdb"),
                .product(name: "CozImport", package: "cozdb"),
                .product(name: "CozDBService", package: "cozdb"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
