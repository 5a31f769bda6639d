import Foundation
import Synchronization
import Testing
import WaystationPacks
import WaystationStorage

@testable import WaystationPublishing

/// A release directory in a folder of its own, with a clock that stands still, a key, and packs to publish.
final class Publisher: Sendable {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)

    let folder: URL
    let key: SigningKey
    private let clock = Mutex(Publisher.start)

    init() throws {
        key = try SigningKey.generate()
        folder = FileManager.default.temporaryDirectory.appending(path: "waystation-publishing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var root: URL { folder.appending(path: "releases") }
    var releases: ReleaseDirectory { releases() }

    func releases(
        on fileSystem: any FileSystem = LocalFileSystem(),
        _ configuration: ReleaseDirectory.Configuration = .init()
    ) -> ReleaseDirectory {
        var environment = PackEnvironment()
        environment.fileSystem = fileSystem
        environment.now = { [self] in clock.withLock { $0 } }
        return ReleaseDirectory(root, configuration: configuration, environment: environment)
    }

    var now: Date { clock.withLock { $0 } }

    func pass(_ time: Duration) {
        clock.withLock { $0 += Double(time.components.seconds) }
    }

    /// A pack with a large file that all versions share and a small one of its own.
    func pack(
        _ version: String,
        of module: String = "shop",
        files: [String: Data]? = nil,
        minimumAppVersion: String? = nil,
        minimumPackVersion: String? = nil
    ) throws -> URL {
        let source = folder.appending(path: "source-\(UUID().uuidString)")
        let files = files ?? ["common.js": Self.noise(8_000, seed: 1), "index.html": Data("<p>\(version)".utf8)]
        for (path, data) in files {
            let file = source.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: file)
        }
        let zip = folder.appending(path: "\(module)-\(version)-\(UUID().uuidString).zip")
        let description = PackDescription(
            module: try #require(ModuleID(module)),
            version: try #require(PackVersion(version)),
            baseURLs: ["https://shop.example/\(module)/"],
            minimumAppVersion: minimumAppVersion.flatMap { PackVersion($0) },
            minimumPackVersion: minimumPackVersion.flatMap { PackVersion($0) }
        )
        try PackBuilder.build(folder: source, as: description, to: zip)
        return zip
    }

    @discardableResult
    func publish(_ version: String, of module: String = "shop", rollout: Double = 100) async throws -> Publication {
        try await releases.publish(zip: pack(version, of: module), rollout: rollout, signedBy: [key])
    }

    /// The catalogue as a new client would read it.
    func catalogue(trusting key: SigningKey? = nil) throws -> Catalogue {
        let bytes = try Data(contentsOf: root.appending(path: "catalogue.json"))
        return try Catalogue.opening(bytes, signedBy: [(key ?? self.key).trusted], after: nil, now: now).catalogue
    }

    func bytes(_ path: String) throws -> Data { try Data(contentsOf: root.appending(path: path)) }

    /// Bytes that do not compress, the same ones for the same seed.
    static func noise(_ count: Int, seed: UInt64) -> Data {
        var state = seed
        return Data(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        )
    }
}

func module(_ text: String = "shop") throws -> ModuleID { try #require(ModuleID(text)) }

func version(_ text: String) throws -> PackVersion { try #require(PackVersion(text)) }

/// The code of the ``PackError`` that an operation throws; nil if it throws none.
func errorCode<Result>(_ operation: () async throws -> Result) async -> PackError.Code? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return (error as? PackError)?.code
    }
}
