#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

/// A gateway with an inspector, whose interceptor has rules, a cache, a pack in two versions and cookies.
final class InspectorFixture: Sendable {
    let fixture: GatewayFixture
    let origin: ScriptedOrigin
    let packs: PackLibrary
    let cookies: CookieStore
    private let folder: URL

    init(isProxy: Bool = false) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "inspector-\(UUID().uuidString)")
        self.folder = folder
        let origin = try ScriptedOrigin { request in
            if let body = Self.bodies[request.path] { return .ok(body.bytes, fields: ["Content-Type": body.type]) }
            if request.path == "/never" { return .unanswered }
            if request.path == "/kept/film" {
                return .status(
                    206,
                    fields: [
                        "Content-Range": "bytes 10-19/5000", "ETag": "\"1\"", "Cache-Control": "max-age=1000",
                        "Cache-Groups": "\"films\"",
                    ],
                    body: Data("0123456789".utf8)
                )
            }
            if let vary = Self.varying[request.path] {
                return .ok(request.path, fields: ["Cache-Control": "max-age=1000", "Vary": vary])
            }
            return .ok(
                request.path,
                fields: [
                    "Cache-Control": request.path.hasPrefix("/kept") ? "max-age=1000" : "no-store",
                    "X-Markup": "<b>bold</b>", "Set-Cookie": "id=received-secret; Path=/", "Content-Type": "text/plain",
                ]
            )
        }
        self.origin = origin
        let packs = try PackLibrary(directory: folder.appending(path: "packs"))
        self.packs = packs
        for version in ["1.0", "1.1"] {
            let source = folder.appending(path: "source-\(version)")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            try Data("<p>version \(version)</p>".utf8).write(to: source.appending(path: "index.html"))
            try await packs.install(
                folder: source,
                as: PackDescription(
                    module: try #require(ModuleID("shop")),
                    version: try #require(PackVersion(version)),
                    baseURLs: ["https://pack.example/"]
                )
            )
        }
        let cookies = CookieStore()
        self.cookies = cookies
        try cookies.insert(
            Cookie(
                name: "token",
                value: "stored-secret",
                domain: "127.0.0.1",
                isHostOnly: true,
                isHTTPOnly: true,
                creation: Date()
            )
        )
        fixture = try await GatewayFixture(files: ["index.html": "<p>shop</p>"], cookies: cookies) {
            $0.inspector = true
            $0.isProxy = isProxy
        } interceptor: {
            $0.cache = try ResponseCache(directory: folder.appending(path: "cache"))
            $0.packs = packs
            $0.rules += [
                .block("https://ads.example/**"),
                .allow("https://pack.example/**", via: .pack(orElse: .nowhere)),
                .allow("\(origin.url())**", via: .cache(.standard, tags: ["inspected"])),
            ]
        }
    }

    /// The values of `Vary` of the responses that are stored in variants.
    static let varying = ["/kept/varied": "Accept-Language", "/kept/user": "Cookie"]

    /// The bodies of types that the inspector shows, and of one that it does not show.
    static let bodies: [String: (type: String, bytes: Data)] = [
        "/data.json": ("application/json; charset=utf-8", Data(#"{"b": [1], "a": {"token": "body-secret"}}"#.utf8)),
        "/numbers.json": (
            "application/json",
            Data(#"{"id":12345678901234567890123,"price":1.10,"none":{},"text":"a, {b}: \"["}"#.utf8)
        ),
        "/page.html": ("text/html", Data("<b>bold</b>".utf8)),
        "/long.txt": ("text/plain", Data(repeating: UInt8(ascii: "x"), count: 40_000)),
        "/picture": ("image/png", picture),
        "/large-picture": ("image/png", picture + Data(count: 40_000 - picture.count)),
        "/film": ("video/mp4", Data(count: 10)),
        "/oauth": ("application/x-www-form-urlencoded", Data("access_token=body-secret&scope=all".utf8)),
        "/text.json": ("text/plain", Data(#" {"accessToken": "body-secret", "scope": "all"}"#.utf8)),
    ]

    /// A PNG of one pixel.
    static let picture =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        ) ?? Data()

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The gateway's name for the origin.
    var name: String { fixture.name(of: origin) }

    var host: String { "waystation.localhost:\(fixture.port)" }

    var url: URL { get throws { try #require(fixture.gateway.inspectorURL) } }

    /// The cookie that the URL with the secret gives a browser.
    func cookie() async throws -> String {
        let url = try url
        let entry = try await fixture.get("/?\(try #require(url.query()))", host: host)
        return String(try #require(entry["Set-Cookie"]).prefix { $0 != ";" })
    }

    /// What the inspector knows of a load.
    func load(_ number: Int) async throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: try await ask("/api/load?id=\(number)").body)
    }

    /// Asks the inspector as its page does.
    func ask(_ target: String, method: String = "GET", _ fields: [String] = []) async throws -> RawResponse {
        let own = ["Cookie: \(try await cookie())", "Sec-Fetch-Site: same-origin"]
        return try await fixture.get(target, host: host, method: method, own + fields)
    }
}
#endif
