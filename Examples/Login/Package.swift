// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "login",
    products: [
        .executable(name: "login", targets: ["Login"]),
        // For the kiosk's example, which shows the shop's pages.
        .library(name: "ShopServer", targets: ["ShopServer"]),
    ],
    dependencies: [
        // The same traits in the same order in all packages that share a build folder: Scripts/swift.sh says why.
        .package(
            name: "waystation",
            path: "../..",
            traits: ["AsyncHTTPClient", "Configuration", "Gateway", "Redis", "Tracing"]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CGumbo", pkgConfig: "gumbo", providers: [.apt(["libgumbo-dev"])]),
        .target(
            name: "ShopServer",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "ShopApp",
            dependencies: [
                "CGumbo",
                .product(name: "Waystation", package: "waystation"),
            ]
        ),
        .executableTarget(
            name: "Login",
            dependencies: [
                "ShopApp", "ShopServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Waystation", package: "waystation"),
            ]
        ),
        .testTarget(
            name: "LoginTests",
            dependencies: [
                "Login", "ShopApp", "ShopServer",
                .product(name: "Waystation", package: "waystation"),
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
