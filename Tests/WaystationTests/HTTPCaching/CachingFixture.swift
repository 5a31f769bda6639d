import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

/// An app whose loads go through a cache with one strategy, an origin that answers as the test scripts it, and the
/// clock that all of them use.
final class CachingFixture: Sendable {
    typealias Script = @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Response

    let origin: ScriptedOrigin
    let cache: ResponseCache
    let clock = ManualClock()
    let interceptor: Interceptor
    let session: URLSession
    private let doors: Doors
    private let directory: TemporaryDirectory

    init(
        _ strategy: CacheStrategy = .standard,
        rules: CachingRules = CachingRules(),
        maximumEntrySize: ByteCount = .mebibytes(32),
        residentLimit: ByteCount = .mebibytes(32),
        storesCodedBodies: Bool = false,
        delegate: RecordingDelegate? = nil,
        hosts: [String] = ["127.0.0.1"],
        key: CacheKey = .url,
        tags: [String] = [],
        cookies: CookieStore? = nil,
        _ script: @escaping Script
    ) throws {
        directory = try TemporaryDirectory()
        origin = try ScriptedOrigin(script: script)
        cache = try ResponseCache(
            directory: directory.url,
            limits: StoreLimits(maximumEntrySize: maximumEntrySize, residentLimit: residentLimit),
            environment: .patient,
            now: clock.now
        )
        interceptor = try Interceptor { [cache, clock] in
            $0.rules = hosts.map { .allow("http://\($0):*/**", via: .cache(strategy, key: key, tags: tags)) }
            $0.cache = cache
            $0.cookies = cookies
            $0.cachingRules = rules
            $0.storesCodedBodies = storesCodedBodies
            $0.transport = LoadingDoor.present.carrier
            $0.now = clock.now
            $0.schedule = clock.schedule
        }
        session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        doors = Doors(of: interceptor, session)
    }

    /// The folder of the cache.
    var folder: URL { directory.url }

    /// The requests that reached the origin, one line each: method, target and conditions.
    var asked: [String] {
        origin.requests.map { request in
            let conditions = ["If-None-Match", "If-Modified-Since"].compactMap { request.value(of: $0) }
            return ([request.method, request.target] + conditions).joined(separator: " ")
        }
    }

    /// Waits for an event of a kind, and until the cache has written everything.
    func event(_ events: AsyncStream<LoadEvent>, where isExpected: (LoadEvent.Kind) -> Bool) async {
        for await event in events where isExpected(event.kind) { break }
        await cache.flush()
    }

    /// The response that the app got.
    struct Got: Equatable {
        var status: Int
        var body: String
        var fields: [String: String]

        subscript(name: String) -> String? { fields[name.lowercased()] }

        fileprivate init(_ loaded: Doors.Loaded) {
            status = loaded.status
            body = String(decoding: loaded.body, as: UTF8.self)
            fields = loaded.fields
        }

        /// The waystation's own member of `Cache-Status`.
        var cacheStatus: String { self["Cache-Status"] ?? "none" }
        var isHit: Bool { cacheStatus.contains("Waystation; hit") }
        /// Whether a stored response answers in place of the origin's, which did not arrive.
        var standsIn: Bool { cacheStatus.contains("Waystation; fwd=") && !cacheStatus.contains("fwd-status") }
    }

    /// Loads a target, and waits until the cache has stored the response.
    @discardableResult
    func load(
        _ target: String = "/",
        method: String = "GET",
        _ fields: [String: String] = [:],
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        body: Data? = nil
    ) async throws -> Got {
        var request = URLRequest(url: origin.url(target), cachePolicy: policy)
        request.httpMethod = method
        request.httpBody = body
        // Longer than a load takes on a busy machine.
        request.timeoutInterval = 600
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let door = policy == .useProtocolCachePolicy ? LoadingDoor.present : .presentWithPolicies
        let got = Got(try await doors.load(request, by: door))
        await cache.flush()
        return got
    }

    /// A field of the origin's request at this index, counted from 0.
    func seen(_ index: Int, _ name: String) -> String? {
        let requests = origin.requests
        return requests.indices.contains(index) ? requests[index].value(of: name) : nil
    }

    /// An HTTP date, in seconds from the beginning of the test.
    static func date(_ seconds: TimeInterval = 0) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: 1_800_000_000 + seconds))
    }
}

/// Counts the calls of a script.
final class Counter: Sendable {
    private let count = Mutex(0)

    /// The number of this call, counted from 1.
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
