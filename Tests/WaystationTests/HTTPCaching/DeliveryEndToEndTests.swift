import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Delivery of a stored response")
struct DeliveryEndToEndTests {
    private static let body = (0..<3000).reduce(into: Data()) {
        $0.append(Data(repeating: UInt8(32 + $1 % 90), count: 1000))
    }

    private func session(_ fixture: CachingFixture, _ delegate: RecordingDelegate) -> URLSession {
        URLSession(
            configuration: .ephemeral.intercepted(by: fixture.interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    /// Whether a load returns the whole body.
    ///
    /// The result is a Bool, so that a failed expectation does not print megabytes.
    private func isWhole(_ fixture: CachingFixture) async throws -> Bool {
        try await fixture.session.data(from: fixture.origin.url()).0 == Self.body
    }

    @Test("to a delegate: one response, the bytes in order, one end", arguments: [10, 100_000, 3_000_000])
    func toDelegate(count: Int) async throws {
        let body = Self.body.prefix(count)
        let fixture = try CachingFixture { _ in .ok(Data(body), fields: ["Cache-Control": "max-age=60"]) }
        for _ in 0..<3 {
            let delegate = RecordingDelegate()
            session(fixture, delegate).dataTask(with: fixture.origin.url()).resume()
            await delegate.completion()
            await fixture.cache.flush()
            #expect(delegate.calls == [.response(200), .data(count), .completed(nil)])
            #expect((delegate.body == body) as Bool)
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("to a completion handler: all bytes at once", arguments: [0, 10, 100_000, 3_000_000])
    func toHandler(count: Int) async throws {
        let body = Self.body.prefix(count)
        let fixture = try CachingFixture { _ in .ok(Data(body), fields: ["Cache-Control": "max-age=60"]) }
        for _ in 0..<2 {
            let got: Data? = await withCheckedContinuation { continuation in
                fixture.session.dataTask(with: fixture.origin.url()) { data, _, _ in
                    continuation.resume(returning: data)
                }.resume()
            }
            await fixture.cache.flush()
            #expect(((got ?? Data()) == body) as Bool)
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a range of a large body is read from the stored file", arguments: [0, 65_536, 1_999_990])
    func range(start: Int) async throws {
        let fixture = try CachingFixture { _ in .ok(Self.body, fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        var request = URLRequest(url: fixture.origin.url())
        request.setValue("bytes=\(start)-\(start + 999_999)", forHTTPHeaderField: "Range")
        let (data, response) = try await fixture.session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 206)
        #expect((data == Self.body[start..<start + 1_000_000]) as Bool)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a delegate that refuses a stored response gets no body")
    func refused() async throws {
        let fixture = try CachingFixture { _ in .ok(Self.body, fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        let delegate = RecordingDelegate(disposition: .cancel)
        session(fixture, delegate).dataTask(with: fixture.origin.url()).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .completed(.cancelled)])
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a task that is suspended while its body arrives continues at the same byte")
    func suspended() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fixture = try CachingFixture { _ in
            .stream(
                [.bytes(Data("first ".utf8)), .wait(gate), .bytes(Data("second".utf8))],
                fields: ["Cache-Control": "max-age=60"]
            )
        }
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let delegate = RecordingDelegate(received: { task in
            task.suspend()
            continuation.yield()
        })
        let task = session(fixture, delegate).dataTask(with: fixture.origin.url())
        task.resume()
        for await _ in begun { break }
        let events = fixture.interceptor.events
        gate.open()
        // The store gets the whole body while the task is suspended.
        await fixture.event(events) { if case .stored = $0 { true } else { false } }
        #expect(delegate.body == Data("first ".utf8))
        task.resume()
        for await _ in begun { break }
        task.resume()
        await delegate.completion()
        #expect(delegate.body == Data("first second".utf8))
        #expect(try await fixture.load().isHit)
        #expect(fixture.origin.requestCount == 1)
    }

    /// A change of a body file by something other than the cache.
    enum Damage: CaseIterable, Sendable { case changed, cut, gone }

    private func damage(_ how: Damage, in folder: URL) throws {
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.path.contains("/bodies/") && !file.hasDirectoryPath {
            switch how {
            case .changed:
                let handle = try FileHandle(forUpdating: file)
                try handle.write(contentsOf: Data("damage".utf8))
                try handle.close()
            case .cut:
                let handle = try FileHandle(forUpdating: file)
                try handle.truncate(atOffset: 100)
                try handle.close()
            case .gone: try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test(
        "a damaged body is loaded again, and the app gets the whole response",
        arguments: Damage.allCases,
        [CacheStrategy.standard, .cacheFirst(for: .days(1))]
    )
    func damaged(how: Damage, strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy) { _ in
            .ok(Self.body, fields: ["Cache-Control": "max-age=60", "ETag": "\"a\""])
        }
        try await fixture.load()
        #expect(try await isWhole(fixture))
        #expect(fixture.origin.requestCount == 1)
        try damage(how, in: fixture.folder)
        #expect(try await isWhole(fixture))
        // If the removed file is still open in the cache, the load reads it without a second request.
        #expect(fixture.asked == (how == .gone && fixture.origin.requestCount == 1 ? ["GET /"] : ["GET /", "GET /"]))
        await fixture.cache.flush()
        #expect(try await isWhole(fixture))
        #expect(fixture.origin.requestCount <= 2)
    }

    @Test("a damaged body reaches a delegate complete, with one response", arguments: [Damage.changed, .cut])
    func damagedForDelegate(how: Damage) async throws {
        let fixture = try CachingFixture { _ in .ok(Self.body, fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        try damage(how, in: fixture.folder)
        let delegate = RecordingDelegate()
        session(fixture, delegate).dataTask(with: fixture.origin.url()).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(Self.body.count), .completed(nil)])
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("a 304 for a stored body that is damaged leads to a second request without conditions")
    func damagedBeforeNotModified() async throws {
        let fixture = try CachingFixture(.revalidate) { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
            return request.value(of: "If-None-Match") == nil
                ? .ok(Self.body, fields: fields) : .status(304, fields: fields)
        }
        try await fixture.load()
        #expect(try await isWhole(fixture))
        try damage(.changed, in: fixture.folder)
        #expect(try await isWhole(fixture))
        #expect(fixture.asked == ["GET /", "GET / \"a\"", "GET / \"a\"", "GET /"])
    }

    @Test("a damaged body is an error when the network may not be used")
    func damagedForGood() async throws {
        let fixture = try CachingFixture { _ in .ok(Self.body, fields: ["Cache-Control": "max-age=60"]) }
        try await fixture.load()
        try damage(.changed, in: fixture.folder)
        let request = URLRequest(url: fixture.origin.url(), cachePolicy: .returnCacheDataDontLoad)
        let error = await #expect(throws: URLError.self) { try await fixture.session.data(for: request) }
        #expect(error?.code == .resourceUnavailable)
        #expect(fixture.origin.requestCount == 1)
    }
}
