// swift-tools-version: 6.2
import PackageDescription

// This package measures the kernels of the database one by one. Kernels are internal, so the
// package compiles the library's own files (through symbolic links) into one module with the
// benchmark loops. That avoids making kernels public or putting benchmarks into the library. The
// module is named CozDB because some of those files refer to it by name.
let package = Package(
    name: "cozkernels",
    products: [.executable(name: "cozkernels", targets: ["CozDB"])],
    targets: [
        .systemLibrary(name: "CozLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CozKernels"),
        .executableTarget(
            name: "CozDB", dependencies: ["CozLZ4", "CozKernels"],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableExperimentalFeature("Lifetimes"),
                .strictMemorySafety(),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
