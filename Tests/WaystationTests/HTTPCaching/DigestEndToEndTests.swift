import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationOrigin
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("A strategy that checks digests (RFC 9530)", .timeLimit(.minutes(10)))
struct DigestEndToEndTests {
    private static let body = String(repeating: "the manual\n", count: 100)

    private static func digest(_ text: some StringProtocol, _ algorithm: MessageDigest.Algorithm = .sha256) -> String {
        let name = algorithm == .sha256 ? "sha-256" : "sha-512"
        return "\(name)=:\(Data(MessageDigest.of(Data(text.utf8), algorithm)).base64EncodedString()):"
    }

    private static func fixture(
        _ strategy: CacheStrategy = .standard.checkingDigests(),
        storesCodedBodies: Bool = false,
        script: @escaping CachingFixture.Script
    ) throws -> CachingFixture {
        try CachingFixture(strategy, storesCodedBodies: storesCodedBodies, script)
    }

    /// Loads a target, which must fail by its digest.
    private func fail(_ fixture: CachingFixture, _ fields: [String: String] = [:]) async throws {
        let events = fixture.interceptor.events
        await #expect(throws: (any Error).self) { try await fixture.load("/", fields) }
        for await event in events {
            guard case .degraded(let message) = event.kind else { continue }
            #expect(message.contains("-digest states"))
            #expect(event.url == fixture.origin.url("/"))
            break
        }
        await fixture.cache.flush()
    }

    @Test("asks for a digest, and stores a body that agrees", arguments: [MessageDigest.Algorithm.sha256, .sha512])
    func agrees(algorithm: MessageDigest.Algorithm) async throws {
        let fixture = try Self.fixture { _ in
            .ok(Self.body, fields: ["Cache-Control": "max-age=60", "Repr-Digest": Self.digest(Self.body, algorithm)])
        }
        #expect(try await fixture.load().body == Self.body)
        #expect(try await fixture.load().isHit)
        #expect(fixture.seen(0, "Want-Repr-Digest") == "sha-256=10, sha-512=9")
        #expect(fixture.seen(0, "Accept-Encoding") == "identity")
    }

    @Test(
        "fails a load and stores nothing if the body differs",
        arguments: ["Repr-Digest", "Content-Digest"],
        [CacheStrategy.standard, .cacheFirst(for: .days(1)), .networkFirst()]
    )
    func differs(field: String, strategy: CacheStrategy) async throws {
        let fixture = try Self.fixture(strategy.checkingDigests()) { _ in
            .ok(Self.body, fields: ["Cache-Control": "max-age=60", field: Self.digest("another")])
        }
        try await fail(fixture)
        #expect(await fixture.cache.statistics.entries == 0)
        try await fail(fixture)
        #expect(fixture.origin.requests.count == 2)
    }

    @Test("keeps the response that is stored already if the new one differs")
    func keepsOlder() async throws {
        let counter = Counter()
        let fixture = try Self.fixture { _ in
            let isFirst = counter.next() == 1
            return .ok(
                isFirst ? Self.body : "damaged",
                fields: ["Cache-Control": "max-age=60", "Repr-Digest": Self.digest(Self.body)]
            )
        }
        try await fixture.load()
        fixture.clock.advance(by: 61)
        try await fail(fixture)
        let kept = try await fixture.load(policy: .returnCacheDataDontLoad)
        #expect(kept.body == Self.body)
    }

    @Test("uses a response as without it if there is no digest that can be compared")
    func without() async throws {
        let fixture = try Self.fixture { request in
            let value = request.path == "/none" ? "md5=:AQEB:" : "no dictionary, \""
            return .ok(Self.body, fields: ["Cache-Control": "max-age=60", "Repr-Digest": value])
        }
        for path in ["/none", "/malformed"] {
            try await fixture.load(path)
            #expect(try await fixture.load(path).isHit)
        }
    }

    @Test("is off unless the rule asks for it")
    func off() async throws {
        let fixture = try Self.fixture(.standard) { _ in
            .ok(Self.body, fields: ["Cache-Control": "max-age=60", "Repr-Digest": Self.digest("another")])
        }
        try await fixture.load()
        #expect(try await fixture.load().isHit)
        #expect(fixture.seen(0, "Want-Repr-Digest") == nil)
    }

    @Test("checks also a response that is not stored, such as an error")
    func unstored() async throws {
        let fixture = try Self.fixture { _ in
            .status(500, fields: ["Repr-Digest": Self.digest("another")], body: Data(Self.body.utf8))
        }
        try await fail(fixture)
    }

    /// An origin that sends ranges of the manual, one of which may be damaged.
    private static func ranged(_ damaged: String? = nil, partDigests: Bool = false) -> CachingFixture.Script {
        { request in
            var fields = [
                "Cache-Control": "max-age=60", "ETag": "\"1\"", "Repr-Digest": digest(body),
                "Content-Type": "text/plain",
            ]
            let asked = request.value(of: "Range")?.dropFirst("bytes=".count).split(separator: "-") ?? []
            var bytes = Array(body.utf8)
            var status = "200 OK"
            if let first = asked.first.flatMap({ Int($0) }) {
                let last = asked.count > 1 ? Int(asked[1]) ?? 0 : bytes.count - 1
                fields["Content-Range"] = "bytes \(first)-\(last)/\(bytes.count)"
                bytes = Array(bytes[first...last])
                status = "206 Partial Content"
            }
            if partDigests { fields["Content-Digest"] = digest(String(decoding: bytes, as: UTF8.self)) }
            if request.value(of: "Range") == damaged, damaged != nil { bytes[0] ^= 1 }
            fields["Content-Length"] = "\(bytes.count)"
            let lines = fields.map { "\($0): \($1)\r\n" }.joined()
            return .raw(Data("HTTP/1.1 \(status)\r\nConnection: close\r\n\(lines)\r\n".utf8) + Data(bytes))
        }
    }

    @Test("checks a part by its Content-Digest, which is not that of any other answer")
    func parts() async throws {
        let fixture = try Self.fixture(script: Self.ranged("bytes=100-199", partDigests: true))
        let first = try await fixture.load("/", ["Range": "bytes=0-99"])
        #expect(first.status == 206)
        let within = try await fixture.load("/", ["Range": "bytes=10-19"])
        #expect(within.isHit)
        #expect(within["Content-Digest"] == nil)
        #expect(within["Repr-Digest"] == Self.digest(Self.body))
        try await fail(fixture, ["Range": "bytes=100-199"])
        #expect(await fixture.cache.statistics.entries == 1)
    }

    @Test("checks the whole when a load completes it from parts, and drops the parts if it differs")
    func completed() async throws {
        let fixture = try Self.fixture(script: Self.ranged("bytes=0-99"))
        // Without a digest of its own, damage of the part is not noticed yet.
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fail(fixture)
        #expect(await fixture.cache.statistics.entries == 0)
        let whole = try await fixture.load()
        #expect(whole.body == Self.body)
        #expect(try await fixture.load().isHit)
    }

    @Test("checks the whole when all of its parts are stored, and loads it again if it differs")
    func joined() async throws {
        let fixture = try Self.fixture(script: Self.ranged("bytes=0-99"))
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=100-"])
        let whole = try await fixture.load()
        #expect(whole.body == Self.body)
        #expect(!whole.isHit)
        #expect(fixture.origin.requests.count == 3)
    }

    @Test("serves the whole of parts that agree")
    func joinedRight() async throws {
        let fixture = try Self.fixture(script: Self.ranged(partDigests: true))
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=100-"])
        let whole = try await fixture.load()
        #expect(whole.body == Self.body)
        #expect(whole.isHit)
        #expect(whole["Content-Digest"] == nil)
    }

    @Test("asks for bodies without coding, and stores no coded one, because its digest is that of other bytes")
    func coded() async throws {
        let fixture = try Self.fixture(storesCodedBodies: true) { _ in
            .ok("plain", fields: ["Cache-Control": "max-age=60", "Repr-Digest": Self.digest("plain")])
        }
        try await fixture.load()
        #expect(fixture.seen(0, "Accept-Encoding") == "identity")
    }

    @Test("checks the response to a POST that may answer later GETs")
    func posted() async throws {
        let fixture = try Self.fixture { request in
            .ok(
                Self.body,
                fields: [
                    "Cache-Control": "max-age=60", "Content-Location": "/",
                    "Repr-Digest": Self.digest(request.method == "POST" ? "another" : Self.body),
                ]
            )
        }
        await #expect(throws: (any Error).self) {
            try await fixture.load("/", method: "POST", body: Data("a=1".utf8))
        }
        #expect(try await !fixture.load().isHit)
    }

    @Test("is written as a part of its strategy")
    func description() {
        #expect("\(CacheStrategy.standard.checkingDigests())" == "standard.checkingDigests()")
        #expect(CacheStrategy.standard.checkingDigests() != .standard)
        #expect("\(Route.cache(.cacheOnly.checkingDigests()))" == "cache(cacheOnly.checkingDigests())")
    }
}
