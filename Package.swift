// swift-tools-version: 6.2
import PackageDescription

// The engine on SwiftNIO is built, and its packages are fetched, only for those who ask for this trait.
let nio = TargetDependencyCondition.when(traits: ["NIO"])
// The same for the client of AsyncHTTPClient.
let asyncHTTPClient = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])
// The same for settings.
let settings = TargetDependencyCondition.when(traits: ["Configuration"])
// The same for spans of loads.
let tracing = TargetDependencyCondition.when(traits: ["Tracing"])
// The same for the gateway.
let gateway = TargetDependencyCondition.when(traits: ["Gateway"])
// The same for the shared tier on Redis.
let redis = TargetDependencyCondition.when(traits: ["Redis"])

let package = Package(
    name: "waystation",
    products: [
        // An app's own: the interceptor, and the modules of its rules, sources and cache.
        .library(name: "Waystation", targets: ["Waystation", "WaystationHTTP", "WaystationStorage"]),
        // Offline packs: installing, updating and patching them, and the rules that serve them.
        .library(name: "WaystationPacks", targets: ["WaystationPacks"]),
        // HTTP's rules as functions of values, for other clients: caching, cookies, URL patterns. No input, no output.
        .library(name: "WaystationHTTP", targets: ["WaystationHTTP"]),
        .library(name: "WaystationArchive", targets: ["WaystationArchive"]),
        // For builds and update servers: packs, patches and releases.
        .library(name: "WaystationPublishing", targets: ["WaystationPublishing", "WaystationPacks"]),
        // The engine on SwiftNIO; needs the trait `NIO`.
        .library(name: "WaystationNIO", targets: ["WaystationNIO"]),
        // AsyncHTTPClient's calls by the rules of an interceptor; needs the trait `AsyncHTTPClient`.
        .library(name: "WaystationAsyncHTTPClient", targets: ["WaystationAsyncHTTPClient"]),
        // Answers browsers by the rules of an interceptor; needs the trait `Gateway`.
        .library(name: "WaystationGateway", targets: ["WaystationGateway"]),
        // A tier of responses that machines share, on Redis; needs the trait `Redis`.
        .library(name: "WaystationRedis", targets: ["WaystationRedis", "WaystationStorage"]),
        .library(name: "WaystationRecording", targets: ["WaystationRecording"]),
        // For tests of any code that loads through `URLSession`: stubs, recordings, faults, an origin on loopback.
        .library(name: "WaystationTesting", targets: ["WaystationTesting", "WaystationOrigin"]),
        // The tools of this project's own tests and benchmarks; no promise to anyone else.
        .library(name: "WaystationTestSupport", targets: ["WaystationTestSupport", "WaystationProcesses"]),
        .executable(name: "waystation", targets: ["WaystationCLI"]),
    ],
    traits: [
        .trait(name: "NIO", description: "HTTP/1.1 and HTTP/2 by SwiftNIO: the product WaystationNIO"),
        .trait(
            name: "AsyncHTTPClient",
            description:
                "AsyncHTTPClient's calls, and its client as the network: the product WaystationAsyncHTTPClient",
            // Its client is a connection of the engine.
            enabledTraits: ["NIO"]
        ),
        .trait(
            name: "Gateway",
            description: "A server for browsers on this machine: the product WaystationGateway",
            // It opens web sockets.
            enabledTraits: ["NIO"]
        ),
        .trait(name: "Configuration", description: "Settings by swift-configuration, in the product Waystation"),
        .trait(name: "Tracing", description: "Spans of loads by swift-distributed-tracing, in the product Waystation"),
        .trait(name: "Redis", description: "Responses that machines share through Redis: the product WaystationRedis"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    ],
    targets: [
        // zlib, bzip2, libcrypto and SQLite, of Debian's zlib1g-dev, libbz2-dev, libssl-dev and libsqlite3-dev. It also
        // replaces system calls of SQLite, and wraps C functions that Swift cannot call.
        .target(name: "CWaystation"),
        // Foundation with its loaders, which are a module of their own on Linux.
        .target(name: "WaystationFoundation"),
        .target(name: "WaystationHTTP", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")]),
        // Files that answer requests, stored responses, and the protocol of a shared tier; under them the file system,
        // cryptography and collections.
        .target(
            name: "WaystationStorage",
            dependencies: [
                "CWaystation", "WaystationHTTP", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        // Zips, and streams of zlib.
        .target(name: "WaystationArchive", dependencies: ["CWaystation", "WaystationHTTP", "WaystationStorage"]),
        .target(
            name: "Waystation",
            dependencies: [
                "WaystationArchive", "WaystationFoundation", "WaystationHTTP", "WaystationStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: tracing),
                .product(name: "Configuration", package: "swift-configuration", condition: settings),
            ]
        ),
        .target(
            name: "WaystationPacks",
            dependencies: [
                "CWaystation", "Waystation", "WaystationArchive", "WaystationFoundation", "WaystationHTTP",
                "WaystationStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "WaystationNIO",
            dependencies: [
                "WaystationFoundation", "Waystation", "WaystationArchive", "WaystationHTTP", "WaystationStorage",
                .product(name: "NIOCore", package: "swift-nio", condition: nio),
                .product(name: "NIOPosix", package: "swift-nio", condition: nio),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: nio),
                .product(name: "NIOTLS", package: "swift-nio", condition: nio),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: nio),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: nio),
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: nio),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
            ]
        ),
        .target(
            name: "WaystationAsyncHTTPClient",
            dependencies: [
                "WaystationFoundation", "Waystation", "WaystationHTTP", "WaystationNIO",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
            ]
        ),
        .target(
            name: "WaystationGateway",
            dependencies: [
                "WaystationFoundation", "Waystation", "WaystationHTTP", "WaystationStorage", "WaystationNIO",
                "WaystationRecording",
                .target(name: "WaystationPacks", condition: gateway),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio", condition: gateway),
                .product(name: "NIOPosix", package: "swift-nio", condition: gateway),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: gateway),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: gateway),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: gateway),
            ],
            // The inspector's page is part of the program, so that a kiosk needs no files beside it.
            resources: [.embedInCode("Inspector/Page")]
        ),
        .target(
            name: "WaystationRedis",
            dependencies: [
                "WaystationHTTP", "WaystationStorage",
                .product(name: "NIOCore", package: "swift-nio", condition: redis),
                .product(name: "NIOPosix", package: "swift-nio", condition: redis),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: redis),
            ]
        ),
        .target(
            name: "WaystationPublishing",
            dependencies: [
                "WaystationPacks", "WaystationArchive", "WaystationStorage", "WaystationHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .target(
            name: "WaystationRecording",
            dependencies: [
                "WaystationFoundation", "Waystation", "WaystationArchive", "WaystationHTTP", "WaystationStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .executableTarget(
            name: "WaystationCLI",
            dependencies: [
                "WaystationFoundation", "CWaystation", "Waystation", "WaystationArchive", "WaystationHTTP",
                "WaystationStorage", "WaystationPacks", "WaystationPublishing", "WaystationRecording",
                // `doctor` repeats on the user's machine what the tests pin, against the same server.
                "WaystationOrigin", "WaystationProcesses",
                .target(name: "WaystationGateway", condition: gateway),
                .target(name: "WaystationNIO", condition: gateway),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: gateway),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: gateway),
            ]
        ),
        // Starts programs: for `doctor`, which survives a crash so, and for tests.
        .target(name: "WaystationProcesses"),
        .target(
            name: "WaystationOrigin",
            dependencies: [
                "WaystationStorage", "WaystationHTTP",
            ]
        ),
        // Lets tests answer the sessions that the code under test makes: it stands before three getters of Foundation.
        .target(name: "CWaystationSessions"),
        // Links Swift Testing, so no program but a test may depend on it.
        .target(
            name: "WaystationTesting",
            dependencies: [
                "WaystationFoundation", "CWaystationSessions", "Waystation", "WaystationStorage",
                "WaystationHTTP", "WaystationOrigin", "WaystationRecording",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                // An origin behind TLS.
                .target(name: "WaystationNIO", condition: nio),
                .product(name: "NIOCore", package: "swift-nio", condition: nio),
                .product(name: "NIOPosix", package: "swift-nio", condition: nio),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: nio),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: nio),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: nio),
            ]
        ),
        .target(
            name: "WaystationTestSupport",
            dependencies: [
                "WaystationFoundation", "CWaystation", "WaystationStorage", "WaystationOrigin", "WaystationProcesses",
                "WaystationTesting", "Waystation",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "WaystationTestingTests",
            dependencies: [
                "WaystationTestSupport", "WaystationTesting", "Waystation", "WaystationRecording",
            ],
            exclude: ["Recordings"]
        ),
        .testTarget(
            name: "WaystationHTTPTests",
            dependencies: [
                "WaystationHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "StructuredFieldValues", package: "swift-http-structured-headers"),
            ]
        ),
        .testTarget(
            name: "WaystationStorageTests",
            dependencies: [
                "CWaystation", "WaystationStorage", "WaystationHTTP", "WaystationTestSupport", "WaystationTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "WaystationArchiveTests",
            dependencies: [
                "WaystationArchive", "WaystationStorage", "WaystationTestSupport", "WaystationTesting",
            ]
        ),
        .testTarget(
            name: "WaystationPacksTests",
            dependencies: [
                "WaystationPacks", "Waystation", "WaystationArchive", "WaystationHTTP", "WaystationStorage",
                "WaystationTestSupport", "WaystationTesting",
                .target(name: "WaystationNIO", condition: nio),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "WaystationPublishingTests",
            dependencies: [
                "WaystationPublishing", "WaystationPacks", "WaystationHTTP", "WaystationStorage",
                "WaystationArchive", "WaystationTestSupport", "WaystationTesting",
                .target(name: "WaystationNIO", condition: nio),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "WaystationCLI", "WaystationStorage", "WaystationTestSupport", "WaystationTesting", "Waystation",
                .target(name: "WaystationGateway", condition: gateway),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "WaystationTests",
            dependencies: [
                "Waystation", "WaystationHTTP", "WaystationStorage",
                "WaystationOrigin", "WaystationPacks", "WaystationRedis", "WaystationTestSupport", "WaystationTesting",
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: tracing),
                .product(name: "Configuration", package: "swift-configuration", condition: settings),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: tracing),
                "WaystationNIO",
                .target(name: "WaystationAsyncHTTPClient", condition: asyncHTTPClient),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "StructuredFieldValues", package: "swift-http-structured-headers"),
            ]
        ),
        .testTarget(
            name: "WaystationNIOTests",
            dependencies: [
                "WaystationNIO", "Waystation", "WaystationHTTP", "WaystationTestSupport", "WaystationTesting",
                .product(name: "NIOCore", package: "swift-nio", condition: nio),
                .product(name: "NIOPosix", package: "swift-nio", condition: nio),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: nio),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: nio),
                .product(name: "NIOTLS", package: "swift-nio", condition: nio),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: nio),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: nio),
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: nio),
            ]
        ),
        .testTarget(
            name: "WaystationAsyncHTTPClientTests",
            dependencies: [
                "WaystationAsyncHTTPClient", "WaystationNIO", "Waystation", "WaystationHTTP", "WaystationTestSupport",
                "WaystationTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
            ]
        ),
        .testTarget(
            name: "WaystationRedisTests",
            dependencies: [
                "WaystationRedis", "Waystation", "WaystationHTTP", "WaystationStorage", "WaystationTestSupport",
                "WaystationTesting",
                .product(name: "NIOCore", package: "swift-nio", condition: redis),
                .product(name: "NIOPosix", package: "swift-nio", condition: redis),
            ]
        ),
        // A parser of HTML, for comparisons with the rewriting of links.
        .systemLibrary(
            name: "CGumbo",
            path: "Tests/CGumbo",
            pkgConfig: "gumbo",
            providers: [.apt(["libgumbo-dev"])]
        ),
        .testTarget(
            name: "WaystationGatewayTests",
            dependencies: [
                "CGumbo", "WaystationGateway", "Waystation", "WaystationHTTP", "WaystationOrigin", "WaystationPacks",
                "WaystationRecording", "WaystationTestSupport", "WaystationTesting",
                .target(name: "WaystationNIO", condition: gateway),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: gateway),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio", condition: gateway),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: gateway),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: gateway),
            ]
        ),
        .testTarget(
            name: "WaystationRecordingTests",
            dependencies: [
                "WaystationRecording", "Waystation", "WaystationHTTP", "WaystationStorage",
                "WaystationArchive", "WaystationProcesses", "WaystationTestSupport", "WaystationTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                .target(name: "WaystationNIO", condition: nio),
                .target(name: "WaystationAsyncHTTPClient", condition: asyncHTTPClient),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "Configuration", package: "swift-configuration", condition: settings),
                .target(name: "WaystationGateway", condition: gateway),
                .target(name: "WaystationRedis", condition: redis),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: gateway),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: gateway),
                .product(name: "Logging", package: "swift-log"),
                "CWaystation", "Waystation", "WaystationArchive", "WaystationHTTP",
                "WaystationStorage", "WaystationPacks", "WaystationProcesses", "WaystationPublishing",
                "WaystationRecording", "WaystationTestSupport", "WaystationTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["CommentExamples/Recordings"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The makefile sets the variable for the project's own checks.
let isChecked = Context.environment["WAYSTATION_WARNINGS_AS_ERRORS"] != nil
// A warning is an error only in these checks. A package that depends on this one builds it with its warnings suppressed,
// and the compiler refuses both options together.
let warnings: [SwiftSetting] =
    !isChecked
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0443-warning-control-flags.md
    ? [] : [.treatAllWarnings(as: .error)]

// The same strict settings for every target.
for target in package.targets where target.type != .system {
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

// The tests read many archives and make patches of real web apps. Without optimisation, sorting suffixes took two fifths of
// the time of the update server's tests. Assertions stay.
for target in package.targets where isChecked && ["WaystationArchive", "WaystationPacks"].contains(target.name) {
    target.swiftSettings?
        .append(.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
}
