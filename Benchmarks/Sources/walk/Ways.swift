import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationPacks
import WaystationTesting

/// The ways through the library, from the first call of an app to the answer.
enum Ways {
    /// The rounds of a way that cannot be walked again without its set-up.
    private static let rounds = 25

    /// The ways; each is prepared once, and then walked as often as a number says.
    static let all: [String: @Sendable (Int) async throws -> Void] = [
        "memory-hit": { count in
            try await withCache(by: .urlSession) { session, origin, _ in
                for _ in 0..<count + 2 { try await load(URLRequest(url: origin.url("/page")), by: session) }
            }
        },
        "stored-miss": { count in try await misses(count, by: .urlSession) },
        "stored-miss-nio": { count in try await misses(count, by: .nio) },
        "pack-hit": { count in
            try await withPacks { interceptor in
                let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
                for _ in 0..<count + 2 {
                    try await load(URLRequest(url: url("http://packs.test/page.html")), by: session)
                }
            }
        },
        "gateway-pack-file": { count in
            try await withPacks { interceptor in
                let gateway = Gateway(interceptor)
                try await gateway.start()
                for _ in 0..<count + 2 {
                    var request = URLRequest(url: url("http://127.0.0.1:\(gateway.port ?? 0)/page.html"))
                    request.setValue("packs-test-http.localhost:\(gateway.port ?? 0)", forHTTPHeaderField: "Host")
                    try await load(request, by: .shared)
                }
                await gateway.stop()
            }
        },
        "content-patch": { count in
            let scratch = try ScratchDirectory()
            let zips = try ["1", "2"].map { try pack($0, in: scratch.url) }
            let patch = scratch.url.appendingPathComponent("content.patch")
            try PackBuilder.contentPatch(from: PackContents(zips[0]), to: PackContents(zips[1])).write(to: patch)
            let module = try description("1").module
            for round in 0..<rounds {
                let library = try PackLibrary(directory: scratch.url.appendingPathComponent("packs-\(round)"))
                try await library.install(zip: zips[0])
                if round < count { try await library.install(contentPatch: patch, for: module) }
            }
        },
    ]

    private struct Failure: Error { let description: String }

    private static func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: text) }

    private static func load(_ request: URLRequest, by session: URLSession) async throws {
        let (body, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200, !body.isEmpty else {
            throw Failure(description: "\(request) was answered by \(response)")
        }
    }

    private static func misses(_ count: Int, by engine: Interceptor.Carrier) async throws {
        try await withCache(by: engine) { session, origin, cache in
            for number in 0..<count + 2 {
                try await load(URLRequest(url: origin.url("/\(number)")), by: session)
                // The cache gathers the writes of loads that follow one another at once.
                await cache.flush()
            }
        }
    }

    private static func withCache(
        by engine: Interceptor.Carrier,
        _ walk: @Sendable (URLSession, ScriptedOrigin, ResponseCache) async throws -> Void
    ) async throws {
        let scratch = try ScratchDirectory()
        let origin = try ScriptedOrigin { _ in
            .ok(
                String(repeating: "<p>page</p>", count: 1_000),
                fields: ["Cache-Control": "max-age=600", "ETag": "\"a\""]
            )
        }
        let cache = try ResponseCache(directory: scratch.url)
        let interceptor = try Interceptor {
            $0.transport = engine
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = cache
        }
        try await walk(URLSession(configuration: .ephemeral.intercepted(by: interceptor)), origin, cache)
    }

    private static func description(_ version: String) throws -> PackDescription {
        guard let module = ModuleID("site"), let number = PackVersion(version) else {
            throw Failure(description: "no version: \(version)")
        }
        return PackDescription(module: module, version: number, baseURLs: ["http://packs.test/"])
    }

    private static func site(_ version: String, in directory: URL) throws -> URL {
        let folder = directory.appendingPathComponent("site-\(version)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = (0..<5_000).map { "<p>\($0 % 97) of \($0 == 2_500 ? version : "all")</p>\n" }.joined()
        try Data(text.utf8).write(to: folder.appendingPathComponent("page.html"))
        return folder
    }

    private static func pack(_ version: String, in directory: URL) throws -> URL {
        let zip = directory.appendingPathComponent("\(version).zip")
        try PackBuilder.build(folder: site(version, in: directory), as: description(version), to: zip)
        return zip
    }

    private static func withPacks(_ walk: @Sendable (Interceptor) async throws -> Void) async throws {
        let scratch = try ScratchDirectory()
        let library = try PackLibrary(directory: scratch.url.appendingPathComponent("packs"))
        try await library.install(folder: site("1", in: scratch.url), as: description("1"))
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://packs.test/**", via: .pack(orElse: .nowhere))]
            $0.packs = library
        }
        try await walk(interceptor)
    }
}
