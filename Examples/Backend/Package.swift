// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "backend",
    dependencies: [
        .package(name: "cozdb", path: "../..", traits: ["Service"]),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.20.0",
            traits: []),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "Backend",
            dependencies: [
                .product(name: "CozDB", package: "cozdb"),
                .product(name: "CozImport", package: "cozdb"),
                .product(name: "CozStudy", package: "cozdb"),
                .product(name: "CozDBService", package: "cozdb"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "BackendTests",
            dependencies: [
                "Backend", .product(name: "HummingbirdTesting", package: "hummingbird"),
            ]),
    ]
)
