import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page for people: its own files, which load nothing from other servers.
struct BrowserPage: Sendable {
    private struct Part: Sendable {
        let path: RouterPath
        let type: String
        let bytes: ByteBuffer
    }

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private let parts: [Part]

    init() throws {
        let scripts = ["elements.js", "modules.js", "page.js", "publishing.js", "server.js"]
        let files =
            [("index.html", "text/html"), ("page.css", "text/css")] + scripts.map { ($0, "text/javascript") }
        parts = try files.map { name, type in
            let file = Bundle.module.bundleURL.appending(path: "Resources/\(name)")
            return Part(
                path: name == "index.html" ? "/" : RouterPath("/\(name)"),
                type: "\(type); charset=utf-8",
                bytes: ByteBuffer(bytes: try Data(contentsOf: file))
            )
        }
    }

    func addRoutes(to router: some RouterMethods) {
        for part in parts {
            router.get(part.path) { _, _ in
                Response(
                    status: .ok,
                    headers: [
                        .contentType: part.type, .cacheControl: "no-cache", .contentSecurityPolicy: Self.policy,
                        .xContentTypeOptions: "nosniff",
                    ],
                    body: ResponseBody(byteBuffer: part.bytes)
                )
            }
        }
    }
}
