#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

/// A gateway that shows a shop by its local name, as a proxy, and by certificates of an authority.
final class ShopFixture: Sendable {
    /// A way in which a client asks the gateway.
    enum Face: CaseIterable, Sendable {
        case names, proxy, authority
    }

    let origin: ScriptedOrigin
    let gateway: Gateway
    let authority: CertificateAuthority
    let port: Int
    let folder: TemporaryFolder
    static let film = Data((0..<24 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })

    /// Makes and starts the gateway.
    ///
    /// The paths below `api` lead to the origin, all others to files: `a.txt` has `0123456789`, and `film` is large.
    init(
        cookies: CookieStore? = nil,
        openedAt now: Date = Date(),
        idleTimeout: Duration = .seconds(75),
        _ script: @escaping ScriptedOrigin.Script = { _ in .ok() }
    ) async throws {
        let origin = try ScriptedOrigin(script: script)
        self.origin = origin
        folder = try TemporaryFolder()
        let site = folder.url.appending(path: "site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Data("0123456789".utf8).write(to: site.appending(path: "a.txt"))
        try Data("<p id=shop>the shop</p>".utf8).write(to: site.appending(path: "index.html"))
        let rules: [Rule] =
            ["http", "https"].flatMap { scheme -> [Rule] in
                [
                    .allow("\(scheme)://shop.example/api/**", via: .network),
                    .block("\(scheme)://shop.example/blocked"),
                    .allow(
                        "\(scheme)://shop.example/**",
                        methods: ["GET", "HEAD"],
                        via: .files(in: site, at: "\(scheme)://shop.example/", orElse: .nowhere)
                    ),
                ]
            } + [.allow("https://*.cdn.example:8443/**", via: .nowhere)]
        let interceptor = try Interceptor {
            $0.rules = rules
            $0.cookies = cookies
            $0.makeTransport = { LeadingTransport($0, from: "shop.example", to: origin.port) }
        }
        let authority = try CertificateAuthority.open(
            in: folder.url.appending(path: "authority"),
            for: rules,
            now: now
        )
        self.authority = authority
        gateway = Gateway(interceptor) {
            $0.isProxy = true
            $0.authority = authority
            $0.idleTimeout = idleTimeout
        }
        try await gateway.start()
        port = try #require(gateway.port)
    }

    func writeFilm() throws { try folder.write(Self.film, to: "site/film") }

    /// The arguments of curl that lead it to the gateway.
    func route(_ face: Face) -> [String] {
        switch face {
        case .names: []
        case .proxy: ["--proxy", "http://127.0.0.1:\(port)"]
        case .authority:
            ["--proxy", "http://127.0.0.1:\(port)", "--cacert", authority.rootCertificate.path, "--tlsv1.2"]
        }
    }

    /// The URL of a path of the shop.
    func url(_ path: String, _ face: Face) -> String {
        switch face {
        case .names: "http://shop-example.localhost:\(port)\(path)"
        case .proxy: "http://shop.example\(path)"
        case .authority: "https://shop.example\(path)"
        }
    }

    func curl(_ path: String, _ face: Face, _ arguments: [String] = []) async throws -> SpawnedProcessOutcome {
        try await Programs.curl(route(face) + arguments + [url(path, face)])
    }
}
#endif
