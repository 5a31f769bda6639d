import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationTesting

extension Benchmark {
    /// Answers without the network, compared with the lowest possible cost of an answer.
    static let hits: [Benchmark] = [
        Benchmark("cured-floor/floor") {
            let bare = Loads(Floor.session, [url("http://floor.test/body.txt")], count: 3_000)
            return try await Loads.ratio(
                "cured-floor/floor",
                limit: 1.3,
                judged: .crowd,
                of: ("cured-floor", floor.loads),
                to: ("floor", bare)
            )
        },
        Benchmark("file-hit/floor") {
            let scratch = try ScratchDirectory()
            try Floor.body.write(to: scratch.url.appendingPathComponent("body.txt"))
            let base = url("http://files.test/")
            let session = URLSession(
                configuration: try InterceptedSession.files(in: scratch.url, at: base).configuration()
            )
            let loads = Loads(session, [url("http://files.test/body.txt")], count: 3_000)
            return try await Loads.ratio(
                "file-hit/floor",
                limit: 1.15,
                judged: .crowd,
                of: ("file-hit", loads),
                to: floor
            )
        },
        Benchmark("archive-hit-memory/floor") {
            let archive = try await Archive(entries: 1_000, way: .stored, keepsBodiesInMemory: true)
            // Every URL is loaded once, so that every body is in memory.
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            return try await Loads.ratio(
                "archive-hit-memory/floor",
                limit: 1.15,
                judged: .crowd,
                of: ("archive-hit-memory", archive.loads(count: 3_000)),
                to: floor
            )
        },
        Benchmark("archive-hit-disk/floor") {
            let archive = try await Archive(entries: 1_000, way: .stored, keepsBodiesInMemory: false)
            return try await Loads.ratio(
                "archive-hit-disk/floor",
                limit: 1.40,
                judged: .crowd,
                otherLimit: 1.60,
                of: ("archive-hit-disk", archive.loads(count: 3_000)),
                to: floor
            )
        },
        Benchmark("fresh-memory/floor") {
            let cache = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await cache.loads(count: 2_000).microseconds(atATime: 64)
            return try await Loads.ratio(
                "fresh-memory/floor",
                limit: 1.15,
                judged: .crowd,
                of: ("fresh-memory", cache.loads(count: 3_000)),
                to: floor
            )
        },
        Benchmark("fresh-disk/floor") {
            let cache = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: false)
            return try await Loads.ratio(
                "fresh-disk/floor",
                limit: 1.40,
                judged: .crowd,
                otherLimit: 1.60,
                of: ("fresh-disk", cache.loads(count: 3_000)),
                to: floor
            )
        },
    ]

    /// The cost of a hundred times as many entries.
    static let manyEntries = Benchmark("archive-hit-disk-100000/archive-hit-disk-1000") {
        let few = try await Archive(entries: 1_000, way: .stored, keepsBodiesInMemory: false)
        let many = try await Archive(entries: 100_000, way: .stored, keepsBodiesInMemory: false)
        return try await Loads.ratio(
            "archive-hit-disk-100000/archive-hit-disk-1000",
            limit: 1.10,
            judged: .crowd,
            of: ("archive-hit-disk-100000", many.loads(count: 3_000)),
            to: ("archive-hit-disk-1000", few.loads(count: 3_000))
        )
    }

    /// The load with which every hit is compared; no cancel can freeze it either.
    static var floor: (name: String, loads: Loads) {
        ("floor", Loads(CuredFloor.session, [url("http://floor.test/body.txt")], count: 3_000))
    }
}

/// An archive that is filled through a session from an origin.
///
/// The origin is then stopped, so that only the archive can answer.
struct Archive: Sendable {
    enum Way {
        /// Answers within the time that the rule sets.
        case stored
        /// Answers while the response is fresh by its own fields.
        case cached
    }

    private let scratch: ScratchDirectory
    private let session: URLSession
    private let client: DirectClient
    private let urls: [URL]
    let interceptor: Interceptor

    init(
        entries: Int,
        way: Way,
        keepsBodiesInMemory: Bool,
        sharing: ResponseCache.Sharing? = nil
    ) async throws {
        scratch = try ScratchDirectory()
        let intercepted =
            switch way {
            case .stored: try InterceptedSession.stored(in: scratch.url, keepsBodiesInMemory: keepsBodiesInMemory)
            case .cached:
                try InterceptedSession.cached(
                    in: scratch.url,
                    keepsBodiesInMemory: keepsBodiesInMemory,
                    sharing: sharing
                )
            }
        session = URLSession(configuration: intercepted.configuration())
        interceptor = try intercepted.required()
        client = interceptor.client()
        // All bodies are different, since a store may keep equal ones once.
        let origin = try ScriptedOrigin(keepsRequests: false) { request in
            .ok(
                Pattern.body(Int(request.path.dropFirst()) ?? 0, count: Sizes.small),
                fields: ["Content-Type": "text/plain", "Cache-Control": "max-age=86400", "ETag": "\"\(request.path)\""]
            )
        }
        let all = (0..<entries).map { origin.url("/\($0)") }
        _ = try await Loads(session, all, count: entries).microseconds(atATime: 64)
        origin.stop()
        // At most a thousand of the URLs are used, in a random order that favours no index.
        var random = SeededRandom(seed: 1)
        urls = Array(all.shuffled(using: &random).prefix(1_000))
    }

    func loads(count: Int) -> Loads { Loads(session, urls, count: count) }

    /// Loads by a direct client.
    func directLoads(count: Int) -> Loads { Loads(client, urls, count: count) }

    /// Loads by AsyncHTTPClient's calls.
    func loads(count: Int, _ execute: @escaping Loads.Execute) -> Loads { Loads(urls, count: count, execute) }

    /// Loads by a direct client with messages of three fields.
    func directMessages(count: Int, areRemembered: Bool) -> Loads {
        Loads(messagesBy: client, urls, count: count, areRemembered: areRemembered)
    }

    /// Loads by a direct client with requests of Foundation's.
    func directRequests(count: Int) -> Loads { Loads(requestsBy: client, urls, count: count) }
}

/// Makes a URL from a literal, which is always valid.
func url(_ string: String) -> URL { URL(string: string) ?? URL(fileURLWithPath: string) }
