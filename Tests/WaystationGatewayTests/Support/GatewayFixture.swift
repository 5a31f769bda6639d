#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTesting

/// A running gateway, and a site of files under `https://shop.example/`.
final class GatewayFixture: Sendable {
    let gateway: Gateway
    let interceptor: Interceptor
    let port: Int
    private let folder: URL

    /// Makes and starts a gateway.
    ///
    /// - Parameters:
    ///   - files: The files of the site, by path.
    ///   - origin: An origin that a rule leads to the network.
    ///   - cookies: The app's cookies.
    ///   - options: Changes the gateway's options, whose limits of time are an hour.
    ///   - configure: Changes the interceptor's configuration.
    /// - Throws: An error when the gateway cannot be started.
    init(
        files: [String: String] = [:],
        origin: ScriptedOrigin? = nil,
        cookies: CookieStore? = nil,
        _ options: (inout GatewayOptions) -> Void = { _ in },
        interceptor configure: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        interceptor = try Interceptor {
            // Not the network for files that are missing: no test needs the resolver of names.
            let files = Route.files(in: folder, at: "https://shop.example/", orElse: .nowhere)
            $0.rules = [.allow("https://shop.example/**", via: files)]
            if let origin { $0.rules.append(.allow("\(origin.url())**", via: .network)) }
            $0.cookies = cookies
            try configure(&$0)
        }
        gateway = Gateway(interceptor) {
            // No test is as slow as that, on a slow machine either.
            let patience = Duration.seconds(3_600)
            ($0.requestTimeout, $0.idleTimeout, $0.deliveryTimeout) = (patience, patience, patience)
            options(&$0)
        }
        try await gateway.start()
        port = try #require(gateway.port)
    }

    /// Adds a file to the site.
    func write(_ data: Data, to path: String) throws { try data.write(to: folder.appending(path: path)) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The value of `Host` for an origin of the test.
    func name(of origin: ScriptedOrigin) -> String { "127-0-0-1-\(origin.port)-http.localhost:\(port)" }

    var shop: String { "shop-example.localhost:\(port)" }

    /// Sends a request without a body, and returns the response.
    func get(
        _ target: String,
        host: String? = nil,
        method: String = "GET",
        _ fields: [String] = []
    ) async throws
        -> RawResponse
    {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? shop)", "Connection: close"] + fields + ["", ""]
        return try await send(lines.joined(separator: "\r\n"))
    }

    /// Sends bytes as they stand, and returns the response at the end of the connection.
    func send(_ text: String) async throws -> RawResponse {
        let connection = try RawConnection(port)
        connection.send(text)
        return try #require(RawResponse(await connection.read()))
    }
}
#endif
