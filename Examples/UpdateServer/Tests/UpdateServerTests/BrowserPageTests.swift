import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import UpdateServer

@Suite("The page")
struct BrowserPageTests {
    @Test("is served whole, allows only its own files, and needs no others")
    func page() async throws {
        try await Platform().application().ask(.router) { client in
            for (path, type) in [("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")] {
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
        try await Platform().application().ask(.router) { client in
            let text = String(buffer: try await client.execute(uri: "/", method: .get).body)
            let fields = text.matches(of: #/<(?:input|select) id="([a-z]+)"/#).map { String($0.output.1) }
            #expect(fields == ["token", "module", "pack", "rollout", "network"])
            for field in fields { #expect(text.contains("<label for=\"\(field)\">")) }
            #expect(text.contains("<html lang=\"en\">"))
            #expect(text.contains("role=\"status\"") && text.contains("role=\"alert\""))
        }
    }
}
