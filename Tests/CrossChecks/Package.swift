// swift-tools-version: 6.2
import PackageDescription

// The side of Waystation in the comparisons with other caches.
let package = Package(
    name: "cross-checks",
    dependencies: [
        .package(name: "waystation", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "decide",
            dependencies: [
                .product(name: "WaystationCaching", package: "waystation"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
