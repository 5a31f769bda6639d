// swift-tools-version: 6.2
import PackageDescription

// A program with the cache, packs and the engine on SwiftNIO, to be linked statically: Scripts/static-program.py.
let package = Package(
    name: "static-program",
    dependencies: [.package(name: "waystation", path: "../..", traits: ["NIO"])],
    targets: [
        .executableTarget(
            name: "static-program",
            dependencies: [
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationNIO", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
