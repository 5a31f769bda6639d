import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationProcesses
import WaystationRecording
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// A folder for one test, deleted with the last reference to this object.
final class Workplace: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-recording-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func file(_ name: String) -> URL { folder.appending(path: name) }

    func file(_ name: String, _ data: Data) throws -> URL {
        try data.write(to: file(name))
        return file(name)
    }

    /// A cache in a folder of its own.
    func cache(maximumEntrySize: ByteCount = .mebibytes(32)) throws -> ResponseCache {
        try ResponseCache(
            directory: folder.appending(path: "http-\(UUID().uuidString)"),
            limits: StoreLimits(maximumEntrySize: maximumEntrySize),
            environment: .patient
        )
    }

    /// The bytes, compressed with gzip.
    func gzipped(_ data: Data) throws -> Data {
        let plain = try file(UUID().uuidString, data)
        return try SpawnedProcess.run("/bin/gzip", ["-c", plain.path]).output
    }
}

/// A session that loads only from a cache.
func offline(_ cache: ResponseCache, _ strategy: CacheStrategy = .cacheOnly) throws -> URLSession {
    let interceptor = try Interceptor {
        $0.rules = ["http://127.0.0.1:*/**", "http://shop.example/**", "https://shop.example/**"].map {
            .allow($0, via: .cache(strategy))
        }
        $0.cache = cache
        $0.makeTransport = { _ in NoNetwork() }
    }
    return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
}

struct NoNetwork: Transport {
    struct Ended: TransportExchange {
        func cancel() {}
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        receiver.transportDidEnd(URLError(.notConnectedToInternet))
        return Ended()
    }
}

/// A small site with responses that are hard to record: bytes of every value, chunks, coded bodies, redirects,
/// variants.
struct Site: Sendable {
    static let home =
        "<!doctype html><meta charset=utf-8><title>Müller’s shop</title>\r\n<script src=app.js></script>\n"
    static let image = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    static let script = Data(String(repeating: "console.log('größe');\n", count: 4_000).utf8)

    let origin: ScriptedOrigin

    init(_ place: Workplace) throws {
        let packed = try place.gzipped(Self.script)
        origin = try ScriptedOrigin { request in
            switch request.path {
            case "/": .ok(Self.home, fields: ["Content-Type": "text/html; charset=utf-8", "ETag": "\"1\""])
            case "/image.png": .ok(Self.image, fields: ["Content-Type": "image/png", "Cache-Control": "max-age=60"])
            case "/app.js":
                .ok(
                    packed,
                    fields: [
                        "Content-Type": "text/javascript", "Content-Encoding": "gzip", "Vary": "Accept-Encoding",
                        "ETag": "\"packed\"",
                    ]
                )
            case "/chunked":
                .stream(
                    (0..<40).map { .bytes(Data("part \($0) of many\r\n".utf8)) },
                    fields: ["Content-Type": "text/plain"]
                )
            case "/empty": .ok("", fields: ["Content-Type": "text/css"])
            case "/moved": .redirect(301, to: "/image.png")
            case "/gone": .status(404, body: Data("gone".utf8))
            case "/private": .ok("mine", fields: ["Cache-Control": "no-store"])
            case "/echo": .ok(request.body, fields: ["Content-Type": "application/json"])
            default: .status(404)
            }
        }
    }

    /// The expected body of every page.
    static let pages: [(path: String, body: Data)] = [
        ("/", Data(home.utf8)), ("/image.png", image), ("/app.js", script), ("/empty", Data()),
        ("/chunked", Data((0..<40).map { "part \($0) of many\r\n" }.joined().utf8)), ("/moved", image),
    ]

    /// Loads every page without a network, and compares every byte.
    func expectPages(in cache: ResponseCache, _ strategy: CacheStrategy = .cacheOnly) async throws {
        let session = try offline(cache, strategy)
        for page in Self.pages {
            let (data, response) = try await session.data(from: origin.url(page.path))
            #expect(data == page.body, "\(page.path)")
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Encoding") == nil, "\(page.path)")
            #expect(head.value(forHTTPHeaderField: "Content-Length") == "\(page.body.count)", "\(page.path)")
            let status = try #require(head.value(forHTTPHeaderField: "Cache-Status"))
            // A stored response that stands in for the network has no `fwd-status`.
            #expect(!status.contains("fwd-status"), "\(page.path)")
        }
    }
}

extension ImportReport {
    /// The reason for each URL that was left out, by the URL's path.
    var reasons: [String: String] {
        Dictionary(skipped.map { (URL(string: $0.url)?.path ?? $0.url, $0.reason.description) }) { first, _ in first }
    }
}
