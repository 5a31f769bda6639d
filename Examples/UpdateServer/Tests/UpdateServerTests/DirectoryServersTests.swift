import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

@Suite("Servers over one directory")
struct DirectoryServersTests {
    private let platform: Platform
    private let library: PackLibrary
    private let shop: ModuleID

    init() throws {
        platform = try Platform()
        library = try PackLibrary(directory: platform.folder.appending(path: "library"))
        shop = try #require(ModuleID("shop"))
    }

    private func updater(
        _ port: UInt16,
        library: PackLibrary? = nil,
        installID: String? = nil,
        fetcher: any PackFetching = URLSessionFetcher(configuration: .patient)
    ) throws -> PackUpdater {
        let url = try #require(URL(string: "http://localhost:\(port)/catalogue.json"))
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = fetcher
        let catalogue = CatalogueSource(url, trusting: [platform.key.trusted], fetcher: fetcher)
        return PackUpdater(
            library: library ?? self.library,
            source: installID.map { NamedClient(installID: $0, source: catalogue) } ?? catalogue,
            app: AppIdentity(code: "shop", version: try #require(PackVersion("2.0"))),
            configuration: configuration
        )
    }

    private func active(_ library: PackLibrary? = nil) -> String? {
        (library ?? self.library).module(shop)?.active?.version.description
    }

    @Test("what is published or rolled back at one is served by the other at once, in every format")
    func turns() async throws {
        let (first, second) = (try platform.pack("1.0"), try platform.pack("1.1"))
        try await platform.server().ask { one in
            try await platform.server().ask { other in
                /// Checks what the servers serve: files, the older formats, and the list for publishers.
                func expect(_ version: String, at servers: PlatformClient...) async throws {
                    for server in servers {
                        _ = try await updater(server.port).check(isForced: true)
                        #expect(active() == version)
                        let package = try await server.execute(uri: "/package?module=shop", method: .get)
                        #expect(String(buffer: package.body).contains("/packs/shop/\(version)/shop-\(version).zip"))
                        let listed = try await server.execute(uri: "/api/modules", method: .get)
                        #expect(String(buffer: listed.body).contains("\"live\":\"\(version)\""))
                    }
                }
                // The server that did not make the change is asked first, and the client follows it.
                try await #expect(one.change("publish", body: ByteBuffer(file: first)).status == .created)
                try await expect("1.0", at: other, one)
                try await #expect(other.change("publish", body: ByteBuffer(file: second)).status == .created)
                try await expect("1.1", at: one, other)
                try await #expect(one.change("rollback").status == .ok)
                try await expect("1.0", at: other, one)
            }
        }
    }

    @Test("a rollout that one begins and the other extends keeps its clients, and is the same at both")
    func rollout() async throws {
        let (first, second) = (try platform.pack("1.0"), try platform.pack("1.1"))
        try await platform.server().ask { one in
            try await platform.server().ask { other in
                try await #expect(one.change("publish", body: ByteBuffer(file: first)).status == .created)
                // A client's share follows from its identifier, so that these clients get the same versions in each run.
                let clients = (0..<8).map { "client \($0)" }
                var (before, shareBefore): ([String], Set<Int>) = ([], [])
                for (percentage, client) in [(30, one), (60, other)] {
                    let action = "publish?rollout=\(percentage)"
                    let answer = try await client.change(action, body: ByteBuffer(file: second))
                    #expect([.created, .ok].contains(answer.status))
                    let rollout = try #require(try platform.catalogue().modules.first?.rollout)
                    #expect(rollout.percentage == Double(percentage))
                    let share = Set((0..<1_000).filter { rollout.includes(installID: "\($0)", of: shop) })
                    #expect(share.isStrictSuperset(of: shareBefore))
                    let versions = clients.map { rollout.includes(installID: $0, of: shop) ? "1.1" : "1.0" }
                    #expect(Set(versions) == ["1.0", "1.1"])
                    #expect(versions != before)
                    for (installID, version) in zip(clients, versions) {
                        let library = try PackLibrary(directory: platform.folder.appending(path: installID))
                        for port in [one.port, other.port] {
                            _ = try await updater(port, library: library, installID: installID).check(isForced: true)
                            #expect(active(library) == version)
                        }
                    }
                    (before, shareBefore) = (versions, share)
                }
            }
        }
    }

    @Test("behind nginx, which asks both in turn, a client updates whole, by patch and back, without a failed request")
    func balanced() async throws {
        let (first, second) = (try platform.pack("1.0", size: 100_000), try platform.pack("1.1", size: 100_000))
        try await platform.server().ask { one in
            try await platform.server().ask { other in
                let ports = [one.port, other.port]
                let nginx = try Nginx(
                    directives: """
                        client_max_body_size 0;
                        location / {
                            proxy_pass http://servers;
                            proxy_set_header Host $http_host;
                            proxy_read_timeout 600s;
                            # A request that one server fails must not be sent to the other.
                            proxy_next_upstream off;
                            add_header X-Server $upstream_addr always;
                        }
                        """,
                    upstream: "upstream servers { \(ports.map { "server 127.0.0.1:\($0);" }.joined(separator: " ")) }"
                )
                let fetcher = WatchingFetcher()
                let updater = try updater(nginx.port, fetcher: fetcher)
                try await PlatformClient.connected(to: nginx.port) { client in
                    try await #expect(client.change("publish", body: ByteBuffer(file: first)).status == .created)
                    _ = try await updater.check(isForced: true)
                    #expect(active() == "1.0")
                    try await #expect(client.change("publish", body: ByteBuffer(file: second)).status == .created)
                    let report = try await updater.check(isForced: true)
                    guard case .updated(.contentPatch, _, _) = report.outcomes.first?.kind else {
                        Issue.record("not updated by a patch: \(report)")
                        return
                    }
                    #expect(active() == "1.1")
                    try await #expect(client.change("rollback").status == .ok)
                    _ = try await updater.check(isForced: true)
                    #expect(active() == "1.0")
                }
                // Three catalogues, a pack and a patch at least.
                let answers = fetcher.answers
                #expect(answers.count >= 5)
                #expect(answers.allSatisfy { [200, 206, 304].contains($0.status) }, "\(answers)")
                #expect(Set(answers.map(\.server)) == Set(ports.map { "127.0.0.1:\($0)" }))
                nginx.stop()
            }
        }
    }
}

/// A source for an installation with a known identifier.
private struct NamedClient: PackSource {
    let installID: String
    let source: CatalogueSource

    func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer {
        var inquiry = inquiry
        inquiry.installID = installID
        return try await source.check(inquiry)
    }
}

/// Fetches as usual, and keeps the status and the server of each answer.
private final class WatchingFetcher: PackFetching {
    private let seen = Mutex<[(status: Int, server: String?)]>([])

    var answers: [(status: Int, server: String?)] { seen.withLock { $0 } }

    func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        let response = try await URLSessionFetcher.shared.fetch(request)
        let server = HTTPField.Name("X-Server").flatMap { response.fields[$0] }
        seen.withLock { $0.append((response.status, server)) }
        return response
    }
}

extension PlatformClient {
    /// Sends a change of the shop's packs with the token.
    fileprivate func change(_ action: String, body: ByteBuffer? = nil) async throws -> ServerAnswer {
        try await execute(
            uri: "/api/modules/shop/\(action)",
            method: .post,
            headers: Platform.authorization,
            body: body
        )
    }
}
