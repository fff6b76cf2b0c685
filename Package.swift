// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// Tools/check sets it: optimized, with all assertions, the tests take a third of the time. Modules
// compiled as a whole take a tenth less time to build.
let isOptimized = Context.environment["COZDB_OPTIMIZED"] != nil
let optimization = ["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"]
let libraries = settings + (isOptimized ? [.unsafeFlags(optimization)] : [])

let package = Package(
    name: "cozdb",
    products: [
        .library(name: "CozDB", targets: ["CozDB"]),
        .library(name: "CozImport", targets: ["CozImport"]),
        .library(name: "CozStudy", targets: ["CozStudy"]),
        .executable(name: "cozdb", targets: ["CozCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2")
    ],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(
            name: "CLibedit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .target(name: "CKernels"),
        .target(
            name: "CozDB", dependencies: ["CLZ4", "CKernels"],
            // ByteReader is the one type that needs it: it borrows the bytes it walks.
            swiftSettings: libraries + [.enableExperimentalFeature("Lifetimes")]),
        .target(name: "CozImport", dependencies: ["CozDB", "CZlib"], swiftSettings: libraries),
        .target(name: "CozStudy", dependencies: ["CozDB", "CozImport"], swiftSettings: libraries),
        .executableTarget(
            name: "CozCommand",
            dependencies: [
                "CLibedit", "CMalloc", "CozDB", "CozImport", "CozStudy",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "ReadmeProgram", dependencies: ["CozDB"], path: "Examples/ReadmeProgram",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .target(
            name: "CozTestSupport", dependencies: ["CozDB"], path: "Tests/CozTestSupport",
            swiftSettings: libraries),
        .testTarget(
            name: "CozDBTests", dependencies: ["CozDB", "CozImport", "CozTestSupport"],
            exclude: ["Golden", "Queries"],
            swiftSettings: settings),
        .testTarget(
            name: "CozImportTests", dependencies: ["CozImport", "CozTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CozStudyTests",
            dependencies: ["CozDB", "CozImport", "CozStudy", "CozTestSupport"],
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
