import Foundation
import HTTPTypes
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Invalidating while a response is being loaded")
struct InvalidationTests {
    private let fixture: StoreFixture
    private let store: ResponseStore
    private static let url = RequestKey.get("a").url

    init() throws {
        fixture = try StoreFixture()
        store = fixture.store()
    }

    /// Ways to invalidate the response of ``url`` in partition `anna`.
    enum Way: CaseIterable, Sendable {
        case urlInPartition, partition, url, prefix, host, all

        func apply(to store: ResponseStore) async throws {
            switch self {
            case .urlInPartition: store.invalidate(url: InvalidationTests.url, partition: "anna")
            case .partition: store.invalidate(partition: "anna")
            case .url: try await store.remove(.url(InvalidationTests.url))
            case .prefix: try await store.remove(.prefix("https://shop.example/"))
            case .host: try await store.remove(.host("shop.example"))
            case .all: try await store.remove(.all)
            }
        }
    }

    @Test(
        "of a URL removes its keys with a fragment, and those of the path that answer other queries",
        arguments: [
            ("a", true), ("a#key=b", true), ("a#search", true), ("a#search=params?c=d", true),
            ("a#search&key=b", true), ("ab", false), ("a?b", false), ("a?b#key=c", false), ("a/#search", false),
            ("A", false),
        ]
    )
    func fragments(path: String, isRemoved: Bool) async throws {
        let key = RequestKey.get(path)
        try await store.store(key, .random(10))
        let scope = ResponseScope.url(Self.url)
        #expect(scope.contains(key) == isRemoved)
        #expect(try await store.remove(scope) == (isRemoved ? 1 : 0))
        #expect(await store.lookup(key).isEmpty == isRemoved)
    }

    @Test(
        "of a URL with a query removes those of its path that answer other queries",
        arguments: [
            ("a?b", true), ("a?b#key=c", true), ("a#search=params?c=d", true), ("a", false), ("a?c", false),
            ("a#key=b", false),
        ]
    )
    func queries(path: String, isRemoved: Bool) async throws {
        let key = RequestKey.get(path)
        for scope in [ResponseScope.url(Self.url + "?b"), .prefix(Self.url + "?b")] {
            try await store.store(key, .random(10))
            #expect(scope.contains(key) == isRemoved)
            #expect(try await store.remove(scope) == (isRemoved ? 1 : 0))
        }
    }

    private let anna = RequestKey.get("a", partition: "anna")

    @Test("a writer that had begun before does not commit", arguments: Way.allCases, [10, 100_000])
    func writerBefore(way: Way, length: Int) async throws {
        let writer = try #require(store.write(anna, .random(length)))
        try await way.apply(to: store)
        let error = await #expect(throws: StoreError.self) { try await writer.commit() }
        #expect(error?.code == .invalidated)
        #expect(await store.lookup(anna).isEmpty)
        await store.flush()
        #expect(fixture.files(in: "bodies").isEmpty)
        #expect(fixture.files(in: "staging").allSatisfy { $0.hasSuffix("/lock") })
    }

    @Test("a commit that was requested before is removed again", arguments: Way.allCases)
    func commitBefore(way: Way) async throws {
        store.write(anna, .random(10))?.commit { _ in }
        try await way.apply(to: store)
        #expect(await store.lookup(anna).isEmpty)
    }

    @Test("a writer that begins afterwards commits", arguments: Way.allCases)
    func writerAfter(way: Way) async throws {
        try await way.apply(to: store)
        try await store.store(anna, .random(10))
        #expect(try await store.bodies(anna) == [.random(10)])
    }

    @Test("a response whose request was sent before is not stored, even if its writer begins afterwards")
    func requestBefore() async throws {
        let moment = store.moment()
        store.invalidate(url: Self.url, partition: "anna")
        let entry = StoredHead(
            key: anna,
            status: 200,
            headerFields: [:],
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now
        )
        let late = try #require(store.begin(entry, asOf: moment))
        let error = await #expect(throws: StoreError.self) { try await late.commit() }
        #expect(error?.code == .invalidated)
        let current = try #require(store.begin(entry, asOf: store.moment()))
        try await current.commit()
        #expect(await store.lookup(anna).count == 1)
    }

    @Test("affects no other key", arguments: Way.allCases)
    func others(way: Way) async throws {
        let keys: [RequestKey] =
            switch way {
            case .urlInPartition: [.get("a"), .get("b", partition: "anna"), .get("a/b", partition: "anna")]
            case .partition: [.get("a"), .get("a", partition: "bert")]
            case .url: [.get("b"), .get("a/b")]
            case .prefix, .host: [RequestKey(method: "GET", url: "https://other.example/a", partition: "anna")]
            case .all: []
            }
        for key in keys { try await store.store(key, .random(10)) }
        let writers = try keys.map { try #require(store.write($0, .random(20))) }
        try await way.apply(to: store)
        for key in keys { #expect(try await store.bodies(key) == [.random(10)]) }
        for writer in writers { try await writer.commit() }
        for key in keys { #expect(try await store.bodies(key) == [.random(20)]) }
    }

    @Test("takes effect at once, in memory and on disk")
    func seenAtOnce() async throws {
        for round in 0..<20 {
            try await store.store(anna, .random(10))
            _ = await store.lookup(anna)
            #expect(store.resident(anna) != nil, "round \(round)")
            store.invalidate(url: Self.url, partition: "anna")
            #expect(store.resident(anna) == nil)
            #expect(await store.lookup(anna).isEmpty)
        }
    }

    @Test("returns how many responses were removed")
    func count() async throws {
        for method in ["GET", "HEAD"] {
            try await store.store(RequestKey(method: method, url: Self.url, partition: "anna"), .random(10))
        }
        try await store.store(.get("a"), .random(10))
        let count = await withCheckedContinuation { continuation in
            store.invalidate(url: Self.url, partition: "anna") { continuation.resume(returning: $0) }
        }
        #expect(try count.get() == 2)
        #expect(try await store.remove(.url(Self.url, partition: "")) == 1)
    }

    @Test("prevents a later 304 from bringing the response back")
    func freshenedAfterwards() async throws {
        try await store.store(anna, .random(10))
        let response = try #require(await store.lookup(anna).first)
        store.invalidate(url: Self.url, partition: "anna")
        store.freshen(
            response,
            headerFields: [.eTag: "\"2\""],
            requestTime: fixture.clock.now,
            responseTime: fixture.clock.now
        )
        #expect(await store.lookup(anna).isEmpty)
    }

    @Test("a process refuses commits only because of its own invalidations")
    func otherProcess() async throws {
        let other = fixture.store()
        let writer = try #require(other.write(anna, .random(10)))
        try await store.remove(.all)
        try await writer.commit()
        #expect(await store.lookup(anna).count == 1)
    }
}

@Suite("The log of invalidations")
struct InvalidationLogTests {
    @Test("counts from the moment of entering, and drops entries that every writer has seen")
    func order() {
        let log = InvalidationLog()
        log.append(.all)
        let first = log.enter()
        #expect(!log.hasInvalidated(.get("a"), since: first))
        log.append(.url(RequestKey.get("a").url))
        let second = log.enter()
        #expect(log.hasInvalidated(.get("a"), since: first))
        #expect(!log.hasInvalidated(.get("b"), since: first))
        #expect(!log.hasInvalidated(.get("a"), since: second))
        log.leave(first)
        log.leave(second)
        let third = log.enter()
        #expect(!log.hasInvalidated(.get("a"), since: third))
    }

    @Test("replaces too many entries by one that covers everything")
    func bound() {
        let log = InvalidationLog()
        let moment = log.enter()
        for number in 0..<InvalidationLog.maximumScopes { log.append(.url("https://a.example/\(number)")) }
        #expect(!log.hasInvalidated(.get("a"), since: moment))
        log.append(.url("https://a.example/more"))
        #expect(log.hasInvalidated(.get("a"), since: moment))
        let later = log.enter()
        #expect(!log.hasInvalidated(.get("a"), since: later))
    }
}
