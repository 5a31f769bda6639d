// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    traits: [.trait(name: "SwiftCrypto", description: "bench compares digests with those of swift-crypto")],
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why.
        .package(
            name: "waystation",
            path: "..",
            traits: ["AsyncHTTPClient", "Configuration", "Gateway", "Redis", "Tracing"]
        ),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    ],
    targets: [
        // The code that the tools share: sessions with and without Waystation, statistics, comparison, nginx, memory.
        .target(
            name: "Measuring",
            dependencies: [
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "differential",
            dependencies: [
                "Measuring", .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ]
        ),
        .executableTarget(
            name: "soak",
            dependencies: [
                "Measuring", .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "bodies",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "bench",
            dependencies: [
                "Measuring", .product(name: "WaystationArchive", package: "waystation"),
                .product(name: "WaystationAsyncHTTPClient", package: "waystation"),
                .product(name: "WaystationGateway", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationPublishing", package: "waystation"),
                .product(name: "WaystationRedis", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "Waystation", package: "waystation"),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["SwiftCrypto"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "walk",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationGateway", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "cancels",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "hammer",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "disk-size",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "chaos",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "fleet",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
                .product(name: "WaystationRedis", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "hostile",
            dependencies: [
                "Measuring", .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
            ]
        ),
        // libFuzzer's C interface, and bzip2 for bytes in memory.
        .target(name: "CLibFuzzer", linkerSettings: [.linkedLibrary("bz2")]),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CLibFuzzer", .product(name: "WaystationArchive", package: "waystation"),
                .product(name: "WaystationGateway", package: "waystation"),
                .product(name: "WaystationPublishing", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .testTarget(name: "MeasuringTests", dependencies: ["Measuring"]),
    ],
    swiftLanguageModes: [.v6]
)

// As in the manifest of the repository's root.
let warnings: [SwiftSetting] =
    Context.environment["WAYSTATION_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// The same strict settings for every target, written once.
for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
            .enableUpcomingFeature("ExistentialAny"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
            .enableUpcomingFeature("MemberImportVisibility"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
            .enableUpcomingFeature("InternalImportsByDefault"),
        ] + warnings
}
