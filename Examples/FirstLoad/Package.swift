// swift-tools-version: 6.2
import PackageDescription

// The program and the test are the first ones of the README, character for character; a test compares them.
let package = Package(
    name: "first-load",
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why.
        .package(
            name: "waystation",
            path: "../..",
            traits: ["AsyncHTTPClient", "Configuration", "Gateway", "Redis", "Tracing"]
        )
    ],
    targets: [
        .executableTarget(name: "app", dependencies: [.product(name: "Waystation", package: "waystation")]),
        .testTarget(
            name: "FirstLoadTests",
            dependencies: [
                "app",
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The same setting as in the manifest at the repository's root. The program gets no others, as one that was made by
// `swift package init`.
let warnings: [SwiftSetting] =
    Context.environment["WAYSTATION_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

for target in package.targets { target.swiftSettings = warnings }
