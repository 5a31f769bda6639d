// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Weather",
    dependencies: [.package(path: "../waystation")],
    targets: [
        .target(name: "Weather"),
        .testTarget(
            name: "WeatherTests",
            dependencies: ["Weather", .product(name: "WaystationTesting", package: "waystation")],
            exclude: ["Recordings"]
        ),
    ]
)
