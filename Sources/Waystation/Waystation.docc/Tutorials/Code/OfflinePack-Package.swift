// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "app",
    dependencies: [.package(path: "../waystation")],
    targets: [
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "Waystation", package: "waystation"),
                .product(name: "WaystationPacks", package: "waystation"),
            ]
        )
    ]
)
