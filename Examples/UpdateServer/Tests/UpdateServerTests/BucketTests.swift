import Foundation
import HTTPTypes
import NIOCore
import Testing
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

@Suite("Servers over one bucket")
struct BucketTests {
    private let platform: Platform
    private let releases: ReleaseDirectory
    private let shop: ModuleID

    init() throws {
        platform = try Platform()
        let store = try ObjectStore.shared
        var configuration = try S3Bucket.Configuration(environment: store.environment)
        configuration.fetcher = URLSessionFetcher(configuration: .patient)
        releases = ReleaseDirectory(in: try S3Bucket(store.address(), configuration))
        shop = try #require(ModuleID("shop"))
    }

    /// One of several servers over the bucket, which share nothing else.
    private func server() throws -> UpdateServer {
        try platform.server { [releases] in $0.releases = releases }
    }

    private func updater(_ port: UInt16, library: PackLibrary, _ install: String) throws -> PackUpdater {
        let base = try #require(URL(string: "http://localhost:\(port)/catalogue.json"))
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = URLSessionFetcher(configuration: .patient)
        return PackUpdater(
            library: library,
            source: CatalogueSource(base, trusting: [platform.key.trusted], fetcher: configuration.fetcher),
            app: AppIdentity(code: install, version: try #require(PackVersion("2.0"))),
            configuration: configuration
        )
    }

    @Test("a client updates through two servers in turn, and what is published at one is served by the other")
    func turns() async throws {
        let (first, second) = (try platform.pack("1.0"), try platform.pack("1.1"))
        let library = try PackLibrary(directory: platform.folder.appending(path: "library"))
        @Sendable func active() -> String? { library.module(shop)?.active?.version.description }
        try await server().ask { one in
            try await server().ask { other in
                let published = try await one.execute(
                    uri: "/api/modules/shop/publish",
                    method: .post,
                    headers: Platform.authorization,
                    body: ByteBuffer(file: first)
                )
                #expect(published.status == .created)
                _ = try await updater(other.port, library: library, "shop").check(isForced: true)
                #expect(active() == "1.0")

                let higher = try await other.execute(
                    uri: "/api/modules/shop/publish",
                    method: .post,
                    headers: Platform.authorization,
                    body: ByteBuffer(file: second)
                )
                #expect(higher.status == .created)
                let report = try await updater(one.port, library: library, "shop").check(isForced: true)
                guard case .updated(.contentPatch, _, _) = report.outcomes.first?.kind else {
                    Issue.record("not updated by a patch: \(report)")
                    return
                }
                #expect(active() == "1.1")

                // The older formats, through both.
                for client in [one, other] {
                    let answer = try await client.execute(uri: "/package?module=shop", method: .get)
                    #expect(String(buffer: answer.body).contains("1.1"))
                }
                let back = try await one.execute(
                    uri: "/api/modules/shop/rollback",
                    method: .post,
                    headers: Platform.authorization
                )
                #expect(back.status == .ok)
                _ = try await updater(other.port, library: library, "shop").check(isForced: true)
                #expect(active() == "1.0")
            }
        }
    }

    @Test("each client of a rollout gets the same version from both servers")
    func rollout() async throws {
        try await releases.publish(zip: platform.pack("1.0"), signedBy: [platform.key])
        try await releases.publish(zip: platform.pack("1.1"), rollout: 50, signedBy: [platform.key])
        try await server().ask { one in
            try await server().ask { other in
                var versions: [String?] = []
                for number in 0..<8 {
                    // A library of its own has an identifier of its own, by which its share is chosen.
                    let library = try PackLibrary(directory: platform.folder.appending(path: "library-\(number)"))
                    _ = try await updater(one.port, library: library, "shop").check(isForced: true)
                    let version = library.module(shop)?.active?.version.description
                    _ = try await updater(other.port, library: library, "shop").check(isForced: true)
                    #expect(library.module(shop)?.active?.version.description == version)
                    versions.append(version)
                }
                #expect(versions.allSatisfy { $0 == "1.0" || $0 == "1.1" })
            }
        }
    }

    @Test("files have validators and ranges, the same ones at both servers")
    func files() async throws {
        let zip = try platform.pack("1.0", size: 3 << 20)
        let release = try await releases.publish(zip: zip, signedBy: [platform.key]).release
        let bytes = try Data(contentsOf: zip)
        let path = "/" + release.archive.path
        try await server().ask { one in
            try await server().ask { other in
                let whole = try await one.execute(uri: path, method: .get)
                #expect(whole.status == .ok)
                #expect(Data(whole.body.readableBytesView) == bytes)
                #expect(whole.headers[.cacheControl] == "public, max-age=31536000, immutable")
                let tag = try #require(whole.headers[.eTag])
                let same = try await other.execute(uri: path, method: .get, headers: [.ifNoneMatch: tag])
                #expect(same.status == .notModified)
                let part = try await other.execute(
                    uri: path,
                    method: .get,
                    headers: [.range: "bytes=1000000-2500000", .ifRange: tag]
                )
                #expect(part.status == .partialContent)
                #expect(part.headers[.contentRange] == "bytes 1000000-2500000/\(bytes.count)")
                #expect(Data(part.body.readableBytesView) == bytes[1_000_000...2_500_000])
                let beyond = try await one.execute(uri: path, method: .get, headers: [.range: "bytes=99999999-"])
                #expect(beyond.status == .rangeNotSatisfiable)
                let head = try await one.execute(uri: path, method: .head)
                #expect(head.headers[.contentLength] == "\(bytes.count)")
                let catalogue = try await other.execute(uri: "/catalogue.json", method: .get)
                #expect(catalogue.headers[.cacheControl] == "no-cache")
            }
        }
    }

    @Test(
        "only the catalogue and packs are served",
        arguments: ["/releases.json", "/packs/../releases.json", "/packs/%2e%2e/releases.json", "/catalogues/x.json"]
    )
    func hidden(uri: String) async throws {
        try await releases.publish(zip: platform.pack("1.0"), signedBy: [platform.key])
        try await server().ask { client in
            let status = try await client.execute(uri: uri, method: .get).status
            #expect(status == .notFound)
        }
    }
}
