// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "weather",
    products: [
        .library(name: "Weather", targets: ["Weather"])
    ],
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why.
        .package(
            name: "waystation",
            path: "../..",
            traits: ["AsyncHTTPClient", "Configuration", "Gateway", "Redis", "Tracing"]
        )
    ],
    targets: [
        // The client knows nothing of Waystation.
        .target(name: "Weather"),
        .testTarget(
            name: "WeatherTests",
            dependencies: ["Weather", .product(name: "WaystationTesting", package: "waystation")],
            exclude: ["Recordings"]
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
