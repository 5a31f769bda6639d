import Dispatch
import Foundation
import HTTPTypes
@_spi(Processes) import Measuring
import Waystation
import WaystationHTTP
import WaystationRedis
import WaystationStorage
import WaystationTestSupport

extension Benchmark {
    /// The time of a purge of 100,000 responses of one group: from the call until it is on disk, and from the call until
    /// eight processes with a store each have obeyed.
    static let purging: [Benchmark] = [
        Benchmark("purge-100000-hard", "purge-100000-soft") {
            var figures: [Figure] = []
            for (name, kind) in [("hard", PurgeKind.hard), ("soft", .soft)] {
                let times = try await PurgedStore(entries: 100_000).purge(as: kind)
                figures.append(
                    Figure(
                        "purge-100000-\(name)",
                        times.written,
                        unit: "ms",
                        limit: 10,
                        against: ["call-ms": times.call]
                    )
                )
            }
            return figures
        },
        Benchmark("purge-fleet-hard", "purge-fleet-soft") {
            try await ["hard", "soft"].asyncMap { name in
                let times = try await PurgedMachine.purgeFleet(of: 8, isSoft: name == "soft")
                return Figure(
                    "purge-fleet-\(name)",
                    times.last,
                    unit: "ms",
                    limit: 100,
                    against: ["first-ms": times.first, "call-ms": times.call]
                )
            }
        },
    ]
}

extension Array where Element: Sendable {
    /// The results for the elements, one after the other.
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}

/// A store whose responses are all of one group.
struct PurgedStore {
    struct Failure: Error, CustomStringConvertible { let description: String }

    static let origin = "https://shop.example"
    static let group = ResponseLabel.group("all", origin: origin)

    private let scratch: ScratchDirectory
    private let entries: Int
    private let store: ResponseStore

    init(entries: Int) async throws {
        scratch = try ScratchDirectory()
        self.entries = entries
        store = ResponseStore(directory: scratch.url, limits: StoreLimits(maximumSize: .gibibytes(64)))
        try await Self.fill(store, with: entries)
    }

    static func fill(_ store: ResponseStore, with entries: Int) async throws {
        await store.flush()
        guard let groups = HTTPField.Name("Cache-Groups") else { throw Failure(description: "no name of a field") }
        let fields: HTTPFields = [.cacheControl: "max-age=86400", .eTag: "\"1\"", groups: "\"all\", \"other\""]
        for number in 0..<entries {
            let now = Date()
            let head = StoredHead(
                key: key(number),
                status: 200,
                headerFields: fields,
                requestTime: now,
                responseTime: now
            )
            guard let writer = store.begin(head) else { throw Failure(description: "the store refuses responses") }
            writer.append(Pattern.body(number, count: 200))
            // Waits after some responses, so that not all bodies are in memory at once.
            if number.isMultiple(of: 64) { try await writer.commit() } else { writer.commit { _ in } }
        }
        await store.flush()
        guard await store.statistics().entries == entries else { throw Failure(description: "responses are missing") }
    }

    static func key(_ number: Int) -> RequestKey { RequestKey(method: "GET", url: "\(origin)/\(number)") }

    /// Purges all responses, and checks that no look-up after the call returns one as before.
    ///
    /// - Returns: The times until the call has returned, and until the purge is on disk, in milliseconds.
    func purge(as kind: PurgeKind) async throws -> (call: Double, written: Double) {
        // As many responses as fit are in memory.
        for number in 0..<entries { _ = await store.lookup(Self.key(number)) }
        let clock = ContinuousClock()
        let begun = clock.now
        var called = begun
        let result = await withCheckedContinuation { continuation in
            store.purge([Self.group], as: kind) { continuation.resume(returning: ($0, clock.now)) }
            called = clock.now
        }
        try result.0.get()
        for number in 0..<entries {
            let found = await store.lookup(Self.key(number))
            guard found.allSatisfy({ kind == .soft && $0.head.staleFrom != nil }) else {
                throw Failure(description: "response \(number) was not purged")
            }
        }
        let millisecond = Duration.milliseconds(1)
        return (begun.duration(to: called) / millisecond, begun.duration(to: result.1) / millisecond)
    }
}

/// A process with a cache of its own, whose responses another process purges over Redis.
enum PurgedMachine {
    private static let entries = 100_000

    private static func sharing(_ port: Int) throws -> ResponseCache.Sharing {
        ResponseCache.Sharing(
            in: try RedisTier(RedisOptions(host: "127.0.0.1", port: port)),
            secret: Data("a secret of the benchmark".utf8)
        )
    }

    /// Purges the responses of several processes, which have 100,000 together.
    ///
    /// - Returns: The milliseconds from the call until it has returned, until the first process has obeyed, and until the
    ///   last one has.
    static func purgeFleet(of count: Int, isSoft: Bool) async throws -> (call: Double, first: Double, last: Double) {
        let server = try RedisServer()
        defer { server.stop() }
        let scratch = try ScratchDirectory()
        let ready = (0..<count).map { scratch.url.appending(path: "ready-\($0)").path }
        let cache = try ResponseCache(directory: scratch.url.appending(path: "purging"), sharing: sharing(server.port))
        let children = (0..<count).map { number in
            let home = scratch.url.appending(path: "home-\(number)")
            let arguments = [
                "--purged", home.appending(path: "cache").path, "\(server.port)", isSoft ? "soft" : "hard",
                ready[number],
            ]
            return Task {
                // A thread for each child, which waits for its end.
                try await withCheckedThrowingContinuation { done in
                    Thread.detachNewThread {
                        // A child that fails must not be waited for.
                        defer { _ = FileManager.default.createFile(atPath: ready[number], contents: nil) }
                        done.resume(
                            with: Result {
                                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                                return try ChildProcess.run(arguments, home: home, limit: 600)
                            }
                        )
                    }
                }
            }
        }
        while !ready.allSatisfy(FileManager.default.fileExists) { try await Task.sleep(for: .milliseconds(20)) }
        guard let origin = URL(string: PurgedStore.origin) else { throw PurgedStore.Failure(description: "no URL") }
        let begun = DispatchTime.now().uptimeNanoseconds
        try await cache.purge(group: "all", of: origin, as: isSoft ? .soft : .hard)
        let called = DispatchTime.now().uptimeNanoseconds
        var times: [Double] = []
        for child in children {
            let outcome = try await child.value
            let text = String(decoding: outcome.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let time = UInt64(text), time > begun else {
                throw PurgedStore.Failure(description: outcome.complaint)
            }
            times.append(Double(time - begun) / 1e6)
        }
        return (Double(called - begun) / 1e6, times.min() ?? .nan, times.max() ?? .nan)
    }

    /// Runs in a process of its own: fills a cache, and prints the time at which no look-up returns its responses any more.
    static func runChild(_ path: String, _ port: Int, isSoft: Bool, ready: String) async throws {
        let directory = URL(filePath: path)
        let cache = try ResponseCache(directory: directory, sharing: sharing(port))
        let interceptor = try Interceptor {
            $0.rules = [.allow("\(PurgedStore.origin)/**", via: .cache(.standard))]
            $0.cache = cache
        }
        // A cache drops the responses that it stores before it knows the first number.
        let number = directory.appending(path: "shared.sequence").path
        while !FileManager.default.fileExists(atPath: number) { try await Task.sleep(for: .milliseconds(5)) }
        let count = entries / 8
        try await PurgedStore.fill(ResponseStore(directory: directory), with: count)
        func isPurged(_ number: Int) async throws -> Bool {
            guard let url = URL(string: PurgedStore.key(number).url) else { return false }
            let found = await interceptor.explain(url).cache
            return isSoft ? found?.response?.lifetimeSource == "purge" : found?.response == nil
        }
        for number in 0..<count where try await isPurged(number) {
            throw PurgedStore.Failure(description: "response \(number) is missing")
        }
        _ = FileManager.default.createFile(atPath: ready, contents: nil)
        while try await !isPurged(.random(in: 0..<count)) { try await Task.sleep(for: .milliseconds(1)) }
        let time = DispatchTime.now().uptimeNanoseconds
        for number in 0..<count where try await !isPurged(number) {
            throw PurgedStore.Failure(description: "response \(number) was not purged")
        }
        say("\(time)")
    }
}
