// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "crawler",
    products: [
        .executable(name: "crawler", targets: ["Crawler"]),
        // Links of pages, style sheets and sitemaps, robots.txt and retries, for other crawlers.
        .library(name: "SiteTools", targets: ["SiteTools"]),
    ],
    traits: [.trait(name: "NIO", description: "Waystation's engine on SwiftNIO, for `--engine nio`")],
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why. With
        // conditions, another order here has that result. Without them, the crawler builds in a third of the time.
        .package(
            name: "waystation",
            path: "../..",
            traits: [
                .trait(name: "AsyncHTTPClient", condition: .when(traits: ["NIO"])),
                .trait(name: "Configuration", condition: .when(traits: ["NIO"])),
                .trait(name: "Gateway", condition: .when(traits: ["NIO"])),
                .trait(name: "Redis", condition: .when(traits: ["NIO"])),
                .trait(name: "Tracing", condition: .when(traits: ["NIO"])),
            ]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .systemLibrary(name: "CGumbo", pkgConfig: "gumbo", providers: [.apt(["libgumbo-dev"])]),
        .systemLibrary(name: "CGzip", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "SiteTools",
            dependencies: ["CGumbo", "CGzip", .product(name: "Waystation", package: "waystation")]
        ),
        .executableTarget(
            name: "Crawler",
            dependencies: [
                "COpenSSL", "SiteTools",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation", condition: .when(traits: ["NIO"])),
                .product(name: "WaystationRecording", package: "waystation"),
            ]
        ),
        .testTarget(
            name: "SiteToolsTests",
            dependencies: [
                "COpenSSL", "SiteTools",
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .testTarget(
            name: "CrawlerTests",
            dependencies: [
                "Crawler", "SiteTools",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationRecording", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The same settings as in the manifest at the repository's root.
let warnings: [SwiftSetting] =
    Context.environment["WAYSTATION_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

for target in package.targets where target.type != .system {
    target.swiftSettings =
        [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ] + warnings
}
