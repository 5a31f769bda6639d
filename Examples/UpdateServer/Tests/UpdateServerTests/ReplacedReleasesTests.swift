import Foundation
import HTTPTypes
import Logging
import NIOCore
import Testing
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

@Suite("A release directory that is replaced while the server runs")
struct ReplacedReleasesTests {
    private let platform: Platform
    private let log = MessageLog.Messages()

    init() throws { platform = try Platform() }

    private static let pack = "/packs/shop/1.1/shop-1.1.zip"
    private static let followed = "notice: the release directory was replaced; the server follows it"

    /// Makes a copy of the releases in which 1.1 is published too.
    private func copy() async throws -> URL {
        let copy = platform.folder.appending(path: "copy")
        try FileManager.default.copyItem(at: platform.root, to: copy)
        try await ReleaseDirectory(copy).publish(zip: platform.pack("1.1"), signedBy: [platform.key])
        return copy
    }

    /// Fails unless files, answers and changes are those of the directory at the path.
    private func expectFollowed(_ client: PlatformClient) async throws {
        #expect(try await client.execute(uri: Self.pack, method: .get).status == .ok)
        let disabled = try await client.execute(
            uri: "/api/modules/shop/disable",
            method: .post,
            headers: Platform.authorization
        )
        #expect(disabled.status == .ok)
        let served = try await client.execute(uri: "/catalogue.json", method: .get)
        #expect(
            Data(served.body.readableBytesView)
                == (try Data(contentsOf: platform.root.appending(path: "catalogue.json")))
        )
        #expect(try platform.catalogue().modules.first?.isActive == false)
    }

    @Test("a copy in its place is followed by files and changes alike, and the log says so")
    func restoredCopy() async throws {
        try await platform.publish("1.0")
        let copy = try await copy()
        try await platform.server(log: log).ask { client in
            #expect(try await client.execute(uri: Self.pack, method: .get).status == .notFound)
            try FileManager.default.moveItem(at: platform.root, to: platform.folder.appending(path: "old"))
            try FileManager.default.moveItem(at: copy, to: platform.root)
            try await expectFollowed(client)
        }
        #expect(log.all.filter { $0 == Self.followed }.count == 1)
    }

    @Test("a link that points elsewhere is followed by files and changes alike")
    func link() async throws {
        try await platform.publish("1.0")
        let copy = try await copy()
        let first = platform.folder.appending(path: "first")
        try FileManager.default.moveItem(at: platform.root, to: first)
        try FileManager.default.createSymbolicLink(at: platform.root, withDestinationURL: first)
        try await platform.server(log: log).ask { client in
            #expect(try await client.execute(uri: Self.pack, method: .get).status == .notFound)
            try FileManager.default.removeItem(at: platform.root)
            try FileManager.default.createSymbolicLink(at: platform.root, withDestinationURL: copy)
            try await expectFollowed(client)
        }
        #expect(log.all.filter { $0 == Self.followed }.count == 1)
    }

    @Test(
        "while nothing is at the path, requests are refused, no change begins an empty directory, and the log says so"
    )
    func missing() async throws {
        try await platform.publish("1.0", "1.1")
        try await platform.server(log: log).ask { client in
            let away = platform.folder.appending(path: "away")
            try FileManager.default.moveItem(at: platform.root, to: away)
            for _ in 0..<2 {
                let answer = try await client.execute(uri: "/catalogue.json", method: .get)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.problem == "noReleases")
            }
            for (uri, method) in [("/api/modules/shop/disable", HTTPRequest.Method.post), ("/api/modules", .get)] {
                let answer = try await client.execute(uri: uri, method: method, headers: Platform.authorization)
                #expect(answer.status == .serviceUnavailable)
            }
            #expect(!FileManager.default.fileExists(atPath: platform.root.path))
            try FileManager.default.moveItem(at: away, to: platform.root)
            try await expectFollowed(client)
        }
        #expect(log.all.filter { $0.hasPrefix("error: the release directory is gone") }.count == 1)
    }

    @Test("the catalogue is not signed again while nothing is at the path")
    func renewal() async throws {
        try await platform.publish("1.0")
        let logger = Logger(label: "test") { _ in MessageLog(messages: log, logLevel: .notice) }
        var renewal = CatalogueRenewal(releases: platform.releases, keys: [platform.key], logger: logger)
        renewal.root = try ReleaseRoot(platform.root, logger: logger)
        try FileManager.default.removeItem(at: platform.root)
        let refused = renewal
        await #expect(throws: Problem.self) { try await refused.renew() }
        #expect(!FileManager.default.fileExists(atPath: platform.root.path))
    }
}
