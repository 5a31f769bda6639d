import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page for people: three files, which load nothing from other servers.
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
        parts = try [
            ("/", "index.html", "text/html; charset=utf-8"), ("/page.css", "page.css", "text/css; charset=utf-8"),
            ("/page.js", "page.js", "text/javascript; charset=utf-8"),
        ].map { path, name, type in
            let file = Bundle.module.bundleURL.appending(path: "Resources/\(name)")
            return Part(path: RouterPath(path), type: type, bytes: ByteBuffer(bytes: try Data(contentsOf: file)))
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
