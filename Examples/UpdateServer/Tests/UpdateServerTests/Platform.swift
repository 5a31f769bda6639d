import Foundation
import HTTPTypes
import Logging
import NIOCore
import Testing
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

/// A release platform in a folder of its own, and packs to publish there.
final class Platform: Sendable {
    static let token = "a-token-of-some-length"
    static let authorization: HTTPFields = [.authorization: "Bearer \(token)"]

    let folder: URL
    let key: SigningKey

    init() throws {
        key = try SigningKey.generate()
        folder = FileManager.default.temporaryDirectory.appending(path: "update-server-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var root: URL { folder.appending(path: "releases") }
    var releases: ReleaseDirectory { ReleaseDirectory(root) }

    /// The platform's server, which writes its log to `messages`.
    func server(
        log messages: MessageLog.Messages? = nil,
        _ configure: (inout ServerSettings) -> Void = { _ in }
    ) throws -> UpdateServer {
        var settings = ServerSettings(
            releases: releases,
            keys: [key],
            token: try #require(AdminToken(Self.token))
        )
        // A test keeps its connection while it publishes, which takes more than a minute on a busy machine.
        settings.clientIdleTimeout = .hours(1)
        configure(&settings)
        var logger = Logger(label: "update-server-tests")
        logger.logLevel = .critical
        if let messages {
            logger = Logger(label: "update-server-tests") { _ in MessageLog(messages: messages, logLevel: .notice) }
        }
        return UpdateServer(settings, logger: logger)
    }

    /// More bytes than a server keeps of a file in memory.
    static let large = 600_000

    /// A pack with a file of noise that all versions share and a page of its own.
    func pack(_ version: String, of module: String = "shop", size: Int = 20_000) throws -> URL {
        let source = folder.appending(path: "source-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        var state: UInt64 = 7
        let noise = Data(
            (0..<size).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        )
        try noise.write(to: source.appending(path: "noise.bin"))
        try Data("<p>\(version)".utf8).write(to: source.appending(path: "index.html"))
        let zip = folder.appending(path: "\(UUID().uuidString).zip")
        let description = PackDescription(
            module: try #require(ModuleID(module)),
            version: try #require(PackVersion(version)),
            baseURLs: ["https://shop.example/\(module)/"]
        )
        try PackBuilder.build(folder: source, as: description, to: zip)
        return zip
    }

    func publish(_ versions: String..., of module: String = "shop", size: Int = 20_000) async throws {
        for version in versions {
            let zip = try await BlockingWork.run { try self.pack(version, of: module, size: size) }
            try await releases.publish(zip: zip, signedBy: [key])
        }
    }

    /// The catalogue, opened as a client would open it.
    func catalogue() throws -> Catalogue {
        let bytes = try Data(contentsOf: root.appending(path: "catalogue.json"))
        return try Catalogue.opening(bytes, signedBy: [key.trusted], after: nil, now: Date()).catalogue
    }
}

extension ByteBuffer {
    init(file: URL) throws { self.init(bytes: try Data(contentsOf: file)) }
}

extension ServerAnswer {
    /// The code in `{"error":{"code":…}}`.
    var problem: String? { error?.code }

    /// The message of an answer with an error.
    var message: String? { error?.message }

    private var error: ErrorBody.Problem? {
        try? JSONDecoder().decode(ErrorBody.self, from: Data(body.readableBytesView)).error
    }
}

/// The body of an answer with an error.
private struct ErrorBody: Decodable {
    struct Problem: Decodable {
        let code: String
        let message: String
    }

    let error: Problem
}
