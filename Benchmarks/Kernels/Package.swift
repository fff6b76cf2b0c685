// swift-tools-version: 6.2
import PackageDescription

// The kernels of the database, measured one by one. Kernels are internal: so this package compiles
// the very files that hold them (symbolic links into the library) in one module with its loops, as
// the library does, instead of opening them to others or putting benchmarks into the library. The
// module has the library's name because some files say it.
let package = Package(
    name: "cozkernels",
    products: [.executable(name: "cozkernels", targets: ["CozDB"])],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CKernels"),
        .executableTarget(
            name: "CozDB", dependencies: ["CLZ4", "CKernels"],
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
