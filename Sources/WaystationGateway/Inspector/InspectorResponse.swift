#if Gateway
import Foundation
import NIOCore
import NIOHTTP1

/// A response of the inspector.
struct InspectorResponse: Sendable {
    var status = 200
    var fields: [(name: String, value: String)] = []
    let type: String
    let body: [UInt8]

    init(type: String, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }

    /// A value as JSON; dates are milliseconds since 1970.
    init(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(type: "application/json", [UInt8](try encoder.encode(value)))
    }

    init(_ refusal: Refusal) {
        self.init(type: "text/plain; charset=utf-8", Array((refusal.message + "\n").utf8))
        status = refusal.status
        if status == 405 { fields = [("Allow", "GET, POST")] }
    }

    /// Sends a browser with the secret in its URL to the page, with the secret in a cookie.
    static func entry(_ gate: InspectorGate) -> InspectorResponse {
        var response = InspectorResponse(type: "text/plain; charset=utf-8", [])
        response.status = 303
        response.fields = [("Location", "/"), ("Set-Cookie", gate.cookie)]
        return response
    }

    /// The fields of every response: the page runs only its own files, no other page may contain it or read an answer,
    /// and nothing is kept.
    static let protection: HTTPHeaders = [
        "Content-Security-Policy": [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
            "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; "),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    ]

    /// The head for a client.
    func head(_ version: HTTPVersion) -> HTTPResponseHead {
        var headers = Self.protection
        headers.add(name: "Content-Type", value: type)
        headers.add(name: "Content-Length", value: "\(body.count)")
        for field in fields { headers.add(name: field.name, value: field.value) }
        return HTTPResponseHead(version: version, status: HTTPResponseStatus(statusCode: status), headers: headers)
    }
}

/// The files of the inspector's page, which are part of the program.
enum InspectorFiles {
    private static let files: [String: (type: String, bytes: [UInt8])] = [
        "index.html": ("text/html; charset=utf-8", PackageResources.index_html),
        "inspector.css": ("text/css; charset=utf-8", PackageResources.inspector_css),
        "inspector.js": (script, PackageResources.inspector_js),
        "elements.js": (script, PackageResources.elements_js),
        "loads.js": (script, PackageResources.loads_js),
        "rules.js": (script, PackageResources.rules_js),
        "cache.js": (script, PackageResources.cache_js),
        "packs.js": (script, PackageResources.packs_js),
        "cookies.js": (script, PackageResources.cookies_js),
        "events.js": (script, PackageResources.events_js),
    ]
    private static let script = "text/javascript; charset=utf-8"

    static func contains(_ name: String) -> Bool { files[name] != nil }

    static func response(_ name: String) -> InspectorResponse? {
        files[name].map { InspectorResponse(type: $0.type, $0.bytes) }
    }
}
#endif
