import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import UpdateServer

@Suite("The page")
struct BrowserPageTests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    @Test("is served whole, allows only its own files, and needs no others")
    func page() async throws {
        try await platform.server().ask { client in
            let scripts = ["elements", "modules", "page", "publishing", "server"].map { "/\($0).js" }
            for (path, type) in [("/", "text/html"), ("/page.css", "text/css")]
                + scripts.map({ ($0, "text/javascript") })
            {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status == .ok)
                #expect(response.headers[.contentType]?.hasPrefix(type) == true)
                let policy = try #require(response.headers[.contentSecurityPolicy])
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"))
                #expect(!policy.contains("unsafe"))
                let text = String(buffer: response.body)
                #expect(!text.contains("http://") && !text.contains("https://"))
                // The policy would block them, and names from packs could become markup.
                for word in ["innerHTML", "insertAdjacentHTML", "style=", "onclick=", "eval("] {
                    #expect(!text.contains(word), "\(path): \(word)")
                }
            }
        }
    }

    @Test("labels every field, and has a place that reports outcomes")
    func accessibility() async throws {
        try await platform.server().ask { client in
            let text = String(buffer: try await client.execute(uri: "/", method: .get).body)
            let fields = text.matches(of: #/<(?:input|select) id="([a-z]+)"/#).map { String($0.output.1) }
            #expect(fields == ["token", "pack", "module", "rollout", "network"])
            for field in fields { #expect(text.contains("<label for=\"\(field)\">")) }
            #expect(text.contains("<html lang=\"en\">"))
            #expect(text.contains("role=\"status\"") && text.contains("role=\"alert\""))
        }
    }

    @Test("has the colours of the gateway's inspector")
    func colours() throws {
        let root = (0..<5).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
        let colours = try [
            "Examples/UpdateServer/Sources/UpdateServer/Resources/page.css",
            "Sources/WaystationGateway/Inspector/Page/inspector.css",
        ].map { path in
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            return text.matches(of: #/--[a-z]+: [^;]+;/#).map { String($0.output) }
        }
        #expect(colours[0].count == 18)
        #expect(colours[0] == colours[1])
    }
}
