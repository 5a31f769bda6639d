// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "kiosk",
    products: [
        .executable(name: "kiosk", targets: ["Kiosk"])
    ],
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why.
        .package(
            name: "waystation",
            path: "../..",
            traits: ["AsyncHTTPClient", "Configuration", "Gateway", "Redis", "Tracing"]
        ),
        .package(name: "login", path: "../Login"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .executableTarget(
            name: "Kiosk",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ShopServer", package: "login"),
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationGateway", package: "waystation"),
                .product(name: "WaystationPublishing", package: "waystation"),
                .product(name: "WaystationTesting", package: "waystation"),
                .product(name: "WaystationTestSupport", package: "waystation"),
            ]
        ),
        .testTarget(name: "KioskTests", dependencies: ["Kiosk"]),
    ],
    swiftLanguageModes: [.v6]
)

// The same settings as in the manifest at the repository's root.
let warnings: [SwiftSetting] =
    Context.environment["WAYSTATION_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

for target in package.targets {
    target.swiftSettings =
        [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ] + warnings
}
