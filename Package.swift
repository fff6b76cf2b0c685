// swift-tools-version: 6.2
import PackageDescription

// Tools/check sets it. Then warnings are errors: they must not be in packages that depend on this
// one, where another compiler may have other warnings. And the libraries are optimized, with all
// assertions: the tests take a third of the time. Modules compiled as a whole take a tenth less
// time to build.
let isChecked = Context.environment["COZDB_OPTIMIZED"] != nil
let warnings: [SwiftSetting] = isChecked ? [.treatAllWarnings(as: .error)] : []
let optimization = ["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"]

let settings: [SwiftSetting] =
    warnings + [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ]
let libraries = settings + (isChecked ? [.unsafeFlags(optimization)] : [])

/// A product that only the trait Service needs.
func service(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Service"]))
}

let package = Package(
    name: "cozdb",
    platforms: [.macOS(.v15), .iOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CozDB", targets: ["CozDB"]),
        .library(name: "CozImport", targets: ["CozImport"]),
        .library(name: "CozStudy", targets: ["CozStudy"]),
        .library(name: "CozDBService", targets: ["CozDBService"]),
        .executable(name: "cozdb", targets: ["CozCommand"]),
    ],
    // Without traits (`traits: []`), nothing else is resolved.
    traits: [
        .trait(name: "Command", description: "The command cozdb"),
        .trait(
            name: "Service",
            description: "CozDBService: swift-log, swift-metrics and ServiceLifecycle"),
        .default(enabledTraits: ["Command"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CozLZ4", pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
        .systemLibrary(
            name: "CozZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CozMalloc"),
        .systemLibrary(
            name: "CozLibedit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .target(name: "CozKernels"),
        .target(name: "CozPlatform", swiftSettings: settings),
        .target(
            name: "CozDB", dependencies: ["CozLZ4", "CozKernels", "CozPlatform"],
            // ByteReader is the one type that needs it: it borrows the bytes it walks.
            swiftSettings: libraries + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "CozImport", dependencies: ["CozDB", "CozPlatform", "CozZlib"],
            swiftSettings: libraries),
        .target(
            name: "CozStudy", dependencies: ["CozDB", "CozImport", "CozPlatform"],
            swiftSettings: libraries),
        .target(
            name: "CozDBService",
            dependencies: [
                "CozDB",
                service("Logging", "swift-log"), service("CoreMetrics", "swift-metrics"),
                service("Metrics", "swift-metrics"),
                service("ServiceLifecycle", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "CozCommand",
            dependencies: [
                "CozLibedit", "CozMalloc", "CozDB", "CozImport", "CozPlatform", "CozStudy",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Command"])),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "ReadmeProgram", dependencies: ["CozDB"], path: "Examples/ReadmeProgram",
            swiftSettings: warnings + [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "Importer", dependencies: ["CozDB", "CozImport", "CozStudy"],
            path: "Examples/Importer", swiftSettings: warnings + [.swiftLanguageMode(.v6)]),
        .target(
            name: "CozTestSupport", dependencies: ["CozDB"], path: "Tests/CozTestSupport",
            swiftSettings: libraries),
        .testTarget(
            name: "CozDBTests", dependencies: ["CozDB", "CozImport", "CozTestSupport"],
            exclude: ["Golden", "Interface", "Platforms", "Queries"],
            swiftSettings: settings),
        .testTarget(
            name: "CozImportTests", dependencies: ["CozImport", "CozTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CozStudyTests",
            dependencies: ["CozDB", "CozImport", "CozStudy", "CozTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CozDBServiceTests",
            dependencies: [
                "CozDB", "CozDBService", "CozTestSupport",
                service("InMemoryLogging", "swift-log"),
                service("MetricsTestKit", "swift-metrics"),
                service("ServiceLifecycleTestKit", "swift-service-lifecycle"),
                service("UnixSignals", "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CozCommandTests",
            dependencies: ["CozCommand", "CozDB", "CozImport", "CozTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CozFuzzTests", dependencies: ["CozDB", "CozImport", "CozTestSupport"],
            exclude: ["Corpus"],
            swiftSettings: settings),
    ]
)
