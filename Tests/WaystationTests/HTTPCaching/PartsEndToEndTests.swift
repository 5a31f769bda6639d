import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationOrigin
import WaystationTestSupport
import WaystationTesting

@Suite("Parts of responses (RFC 9111 §3.3, §3.4)", .timeLimit(.minutes(10)))
struct PartsEndToEndTests {
    private let body = RangedBody(1_000)

    private func fixture(_ strategy: CacheStrategy = .standard) throws -> CachingFixture {
        try CachingFixture(strategy) { [body] in body.answer(to: $0) }
    }

    /// The ranges and conditions of the requests that the origin got.
    private func asked(_ fixture: CachingFixture) -> [String] {
        fixture.origin.requests.map { request in
            let names = ["Range", "If-Range", "If-None-Match"]
            return names.compactMap { request.value(of: $0) }.joined(separator: " ")
        }
    }

    private func check(
        _ got: CachingFixture.Got,
        _ range: Range<Int>,
        isHit: Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(got.status == 206, sourceLocation: location)
        #expect(got.body == body.text(range), sourceLocation: location)
        #expect(
            got["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000",
            sourceLocation: location
        )
        #expect(got["Content-Length"] == "\(range.count)", sourceLocation: location)
        #expect(got["Content-Type"] == "video/mp4", sourceLocation: location)
        #expect(got.isHit == isHit, "\(got.cacheStatus)", sourceLocation: location)
    }

    private func checkWhole(_ got: CachingFixture.Got, _ location: SourceLocation = #_sourceLocation) {
        #expect(got.status == 200, sourceLocation: location)
        #expect(got.body == body.text(), sourceLocation: location)
        #expect(got["Content-Range"] == nil, sourceLocation: location)
        #expect(got["Content-Length"] == "1000", sourceLocation: location)
        #expect(got["Content-Type"] == "video/mp4", sourceLocation: location)
    }

    @Test("ranges are answered from a stored part that has them", arguments: ["bytes=100-299", "bytes=-900"])
    func within(range: String) async throws {
        let fixture = try fixture()
        try await fixture.load("/", ["Range": range])
        check(try await fixture.load("/", ["Range": "bytes=120-179"]), 120..<180, isHit: true)
        check(try await fixture.load("/", ["Range": "bytes=100-100"]), 100..<101, isHit: true)
        #expect(asked(fixture) == [range])
        if range == "bytes=-900" {
            check(try await fixture.load("/", ["Range": "bytes=-10"]), 990..<1_000, isHit: true)
            check(try await fixture.load("/", ["Range": "bytes=990-"]), 990..<1_000, isHit: true)
            #expect(asked(fixture) == [range])
        }
    }

    @Test("a load that completes a response with No-Vary-Search finds the parts that are stored for other queries")
    func searched() async throws {
        body.change { $0.fields["No-Vary-Search"] = "params=(\"utm\")" }
        let fixture = try fixture()
        try await fixture.load("/?utm=1", ["Range": "bytes=0-99"])
        try await fixture.load("/?utm=1", ["Range": "bytes=200-299"])
        checkWhole(try await fixture.load("/?utm=2"))
        #expect(body.sent == 1_000)
    }

    @Test("ranges are answered by joining parts with the same strong validator")
    func joined() async throws {
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=200-299"])
        try await fixture.load("/", ["Range": "bytes=100-199"])
        check(try await fixture.load("/", ["Range": "bytes=50-249"]), 50..<250, isHit: true)
        #expect(body.sent == 300)
    }

    @Test(
        "only the missing spans of a range are asked for",
        arguments: [CacheStrategy.standard, .cacheFirst(for: .hours(1))]
    )
    func missing(strategy: CacheStrategy) async throws {
        let fixture = try fixture(strategy)
        try await fixture.load("/", ["Range": "bytes=100-199"])
        try await fixture.load("/", ["Range": "bytes=300-399"])
        let got = try await fixture.load("/", ["Range": "bytes=150-449"])
        check(got, 150..<450, isHit: false)
        #expect(got.cacheStatus.contains("fwd=partial; fwd-status=206"))
        #expect(
            asked(fixture) == [
                "bytes=100-199", "bytes=300-399", "bytes=200-299 \"v1\"", "bytes=400-449 \"v1\"",
            ]
        )
        check(try await fixture.load("/", ["Range": "bytes=100-449"]), 100..<450, isHit: true)
        #expect(body.sent == 350)
    }

    @Test("a whole response is completed from parts at its beginning, in its middle and at its end")
    func whole() async throws {
        for part in ["bytes=0-99", "bytes=400-499", "bytes=-100"] {
            let body = RangedBody(1_000)
            let fixture = try CachingFixture { body.answer(to: $0) }
            try await fixture.load("/", ["Range": part])
            checkWhole(try await fixture.load())
            let again = try await fixture.load()
            checkWhole(again)
            #expect(again.isHit)
            #expect(body.sent == 1_000)
        }
    }

    @Test("a response that breaks off is continued", arguments: [CacheStrategy.standard, .cacheFirst(for: .hours(1))])
    func brokenOff(strategy: CacheStrategy) async throws {
        let fixture = try fixture(strategy)
        body.change { $0.breaksAfter = 600 }
        await #expect(throws: (any Error).self) { try await fixture.load() }
        await fixture.cache.flush()
        checkWhole(try await fixture.load())
        #expect(asked(fixture) == ["", "bytes=600- \"v1\""])
        #expect(body.sent == 1_000)
        // Also a second time.
        #expect(try await fixture.load().isHit)
    }

    @Test("a continuation that breaks off is continued, too")
    func brokenOffAgain() async throws {
        let fixture = try fixture()
        for count in [600, 300] {
            body.change { $0.breaksAfter = count }
            await #expect(throws: (any Error).self) { try await fixture.load() }
            await fixture.cache.flush()
        }
        checkWhole(try await fixture.load())
        #expect(asked(fixture) == ["", "bytes=600- \"v1\"", "bytes=900- \"v1\""])
    }

    @Test("a part is not continued after its representation has changed", arguments: ["\"v2\"", ""])
    func changed(tag: String) async throws {
        let fixture = try fixture()
        body.change { $0.breaksAfter = 600 }
        await #expect(throws: (any Error).self) { try await fixture.load() }
        await fixture.cache.flush()
        body.change {
            $0.tag = tag
            $0.body = RangedBody.bytes(1_000, 7)
        }
        checkWhole(try await fixture.load())
        #expect(asked(fixture) == ["", "bytes=600- \"v1\""])
        let again = try await fixture.load()
        checkWhole(again)
        #expect(again.isHit)
    }

    @Test(
        "a part of another representation is not joined",
        arguments: [true, false]
    )
    func lying(isConditionIgnored: Bool) async throws {
        let body = self.body
        let fixture = try CachingFixture { request in
            guard request.value(of: "If-Range") != nil else { return body.answer(to: request) }
            // The server ignores the condition, or claims that it holds.
            return .status(
                206,
                fields: [
                    "Content-Range": "bytes 600-999/\(isConditionIgnored ? 1_000 : 1_001)",
                    "ETag": isConditionIgnored ? "\"v2\"" : "\"v1\"", "Cache-Control": "max-age=3600",
                ],
                body: Data(repeating: 9, count: 400)
            )
        }
        body.change { $0.breaksAfter = 600 }
        await #expect(throws: (any Error).self) { try await fixture.load() }
        await fixture.cache.flush()
        checkWhole(try await fixture.load())
        #expect(asked(fixture) == ["", "bytes=600- \"v1\"", ""])
    }

    @Test(
        "parts without a strong validator are not joined, and each answers its own range",
        arguments: ["", "W/\"v1\""]
    )
    func withoutValidator(tag: String) async throws {
        body.change { $0.tag = tag }
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=100-199"])
        check(try await fixture.load("/", ["Range": "bytes=100-199"]), 100..<200, isHit: true)
        check(try await fixture.load("/", ["Range": "bytes=50-99"]), 50..<100, isHit: true)
        check(try await fixture.load("/", ["Range": "bytes=50-149"]), 50..<150, isHit: false)
        checkWhole(try await fixture.load())
        // Without a validator, the bytes of a response that broke off cannot be continued.
        body.change { $0.breaksAfter = 600 }
        await #expect(throws: (any Error).self) { try await fixture.load("/b") }
        await fixture.cache.flush()
        checkWhole(try await fixture.load("/b"))
        #expect(asked(fixture).suffix(2) == ["", ""])
    }

    @Test("stale parts are confirmed by the response with the missing bytes, or by a validation")
    func stale() async throws {
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-499"])
        fixture.clock.advance(by: 4_000)
        checkWhole(try await fixture.load())
        check(try await fixture.load("/", ["Range": "bytes=0-9"]), 0..<10, isHit: true)
        fixture.clock.advance(by: 4_000)
        check(try await fixture.load("/", ["Range": "bytes=0-9"]), 0..<10, isHit: false)
        check(try await fixture.load("/", ["Range": "bytes=0-19"]), 0..<20, isHit: true)
        checkWhole(try await fixture.load())
        #expect(asked(fixture) == ["bytes=0-499", "bytes=500- \"v1\"", "bytes=0-9 \"v1\""])
    }

    @Test("a whole response replaces the parts")
    func replaced() async throws {
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=100-199"])
        #expect(await fixture.cache.statistics.entries == 2)
        body.change { $0.sendsRanges = false }
        checkWhole(try await fixture.load())
        #expect(await fixture.cache.statistics.entries == 1)
        // So does a part of another representation.
        body.change {
            $0.sendsRanges = true
            $0.tag = "\"v2\""
        }
        try await fixture.load("/", ["Range": "bytes=0-99", "Cache-Control": "no-cache"])
        #expect(await fixture.cache.statistics.entries == 1)
        checkWhole(try await fixture.load())
        #expect(asked(fixture).last == "bytes=100- \"v2\"")
    }

    @Test("If-Range of the app is obeyed", arguments: [("\"v1\"", true), ("\"v0\"", false)])
    func ifRange(tag: String, isSame: Bool) async throws {
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-499"])
        let got = try await fixture.load("/", ["Range": "bytes=100-199", "If-Range": tag])
        if isSame { check(got, 100..<200, isHit: true) } else { checkWhole(got) }
    }

    @Test("several ranges and ranges without a known length are passed on and not joined")
    func unusable() async throws {
        let fixture = try CachingFixture { request in
            var fields = ["Cache-Control": "max-age=3600", "ETag": "\"v1\"", "Content-Length": "5"]
            if request.path == "/several" {
                fields["Content-Type"] = "multipart/byteranges; boundary=a"
            } else {
                fields["Content-Range"] = "bytes 0-4/*"
            }
            return .message(206, fields, Data("01234".utf8))
        }
        for path in ["/several", "/unknown"] {
            for range in ["bytes=0-4", "bytes=1-2"] {
                let got = try await fixture.load(path, ["Range": range])
                #expect(got.status == 206 && got.body == "01234" && !got.isHit)
            }
        }
        // Without a length, a part still answers the same request.
        #expect(try await fixture.load("/unknown", ["Range": "bytes=0-4"]).isHit)
        #expect(try await !fixture.load("/several", ["Range": "bytes=0-4"]).isHit)
    }

    @Test("a load whose missing bytes do not come fails, and is not cut")
    func emptySpan() async throws {
        let body = self.body
        let fixture = try CachingFixture { request in
            guard request.value(of: "Range") == "bytes=400-" else { return body.answer(to: request) }
            let fields = ["ETag": "\"v1\"", "Content-Range": "bytes 400-999/1000", "Transfer-Encoding": "chunked"]
            return .message(206, fields, Data("0\r\n\r\n".utf8))
        }
        try await fixture.load("/", ["Range": "bytes=0-99"])
        try await fixture.load("/", ["Range": "bytes=300-399"])
        await #expect(throws: (any Error).self) { try await fixture.load() }
        #expect(asked(fixture).suffix(2) == ["bytes=100-299 \"v1\"", "bytes=400- \"v1\""])
    }

    @Test("parts at the end of the longest content that a number can count are joined")
    func longest() async throws {
        let fixture = try CachingFixture { request in
            let count = request.value(of: "Range") == "bytes=-500" ? 500 : 1_000
            let (last, total) = (Int.max - 2, Int.max - 1)
            let first = last - count + 1
            // The second request is for the first 500 of the 1,000 bytes.
            let end = count == 500 ? last : first + 499
            let fields = [
                "Content-Range": "bytes \(first)-\(end)/\(total)", "ETag": "\"v1\"", "Cache-Control": "max-age=60",
                "Content-Length": "500",
            ]
            return .message(206, fields, Data(repeating: count == 500 ? 66 : 65, count: 500))
        }
        try await fixture.load("/", ["Range": "bytes=-500"])
        let got = try await fixture.load("/", ["Range": "bytes=-1000"])
        #expect(got.body == String(repeating: "A", count: 500) + String(repeating: "B", count: 500))
    }

    @Test("a range far behind the bytes that another load waits for does not wait")
    func farBehind() async throws {
        let gate = ScriptedTransport.Gate()
        let total = 1_000_000_000
        let network = ScriptedTransport { request in
            let isFirst = request.value(forHTTPHeaderField: "Range") == "bytes=0-"
            let range = isFirst ? "0-\(total - 1)" : "900000000-900000009"
            let fields = ["Content-Range": "bytes \(range)/\(total)", "ETag": "\"a\"", "Cache-Control": "max-age=60"]
            let beginning = [.head(206, fields: fields), .part(Data(count: 10))] as [ScriptedTransport.Step]
            return ScriptedTransport.Answer(beginning + (isFirst ? [.wait(gate), .end] : [.end]))
        }
        let film = try Film(through: network)
        async let first = film.load("bytes=0-")
        await network.waitForRequests(1)
        #expect(try await film.loadAsTimePasses("bytes=900000000-900000009") == 10)
        gate.open()
        _ = try? await first
    }

    @Test(
        "a range whose bytes are near does not wait for ever: for a load that takes nothing, or a server that sends nothing",
        arguments: [3_000_000, 600_000]
    )
    func unread(count: Int) async throws {
        let gate = ScriptedTransport.Gate()
        let total = count + 400_000
        let network = ScriptedTransport { request in
            let isFirst = request.value(forHTTPHeaderField: "Range") == "bytes=0-\(total - 1)"
            let range = isFirst ? "0-\(total - 1)" : "\(total - 10)-\(total - 1)"
            let fields = ["Content-Range": "bytes \(range)/\(total)", "ETag": "\"a\"", "Cache-Control": "max-age=60"]
            let steps: [ScriptedTransport.Step] =
                isFirst ? [.part(Data(count: count)), .wait(gate), .end] : [.part(Data(count: 10)), .end]
            return ScriptedTransport.Answer([.head(206, fields: fields)] + steps)
        }
        let film = try Film(through: network)
        // The body of the larger one pauses its fetch; the smaller one waits for the gate alone.
        let unread = try await film.response("bytes=0-\(total - 1)")
        #expect(try await film.loadAsTimePasses("bytes=\(total - 10)-\(total - 1)") == 10)
        #expect(network.requests.count == 2)
        #expect(network.cancelledRequests.isEmpty)
        gate.open()
        withExtendedLifetime(unread) {}
    }

    @Test("a load for the same range waits for bytes that are stored, if their beginning is no longer at hand")
    func sameRange() async throws {
        let gate = ScriptedTransport.Gate()
        let total = 3_000_000
        let network = ScriptedTransport { request in
            guard request.url?.path == "/film" else {
                return ScriptedTransport.Answer([.head(200, fields: [:]), .end])
            }
            let fields = [
                "Content-Range": "bytes 0-\(total - 1)/\(total)", "ETag": "\"a\"", "Cache-Control": "max-age=60",
            ]
            return ScriptedTransport.Answer([
                .head(206, fields: fields), .part(Data(count: 2_500_000)), .wait(gate), .part(Data(count: 500_000)),
                .end,
            ])
        }
        let film = try Film(through: network)
        let range = "bytes=0-\(total - 1)"
        let first = try await film.response(range)
        var received = 0
        var isSecondUnderWay = false
        try await withThrowingTaskGroup(of: Int.self) { group in
            for try await part in first.body {
                received += part.count
                guard received >= 2_500_000, !isSecondUnderWay else { continue }
                isSecondUnderWay = true
                group.addTask { try await film.load(range) }
                // The second load has asked for the bytes before another one of the same client has ended.
                for number in 0..<20 { _ = try await film.load("bytes=0-", of: "other-\(number)") }
                gate.open()
            }
            #expect(received == total)
            #expect(try await group.next() == total)
        }
        #expect(network.requests.filter { $0.url?.path == "/film" }.count == 1)
    }

    /// A client whose loads go through a transport of the test and a cache of their own; time stands still for them.
    private struct Film {
        private let directory = try? TemporaryDirectory()
        private let clock = ManualClock()
        private let client: DirectClient

        init(through network: ScriptedTransport) throws {
            let directory = try #require(directory)
            let interceptor = try Interceptor { [clock] in
                $0.rules = [.allow("http://parts.test/**", via: .cache(.standard))]
                $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
                $0.now = clock.now
                $0.schedule = clock.schedule
                $0.makeTransport = { _ in network }
            }
            client = interceptor.client()
        }

        private func request(_ range: String, _ name: String) throws -> URLRequest {
            var request = try URLRequest("GET", "http://parts.test/\(name)")
            request.setValue(range, forHTTPHeaderField: "Range")
            return request
        }

        func load(_ range: String, of name: String = "film") async throws -> Int {
            try await client.data(for: request(range, name)).0.count
        }

        /// Loads a range of the film, and lets time pass until it is there.
        func loadAsTimePasses(_ range: String) async throws -> Int {
            let isLoaded = Mutex(false)
            async let count = {
                defer { isLoaded.withLock { $0 = true } }
                return try await load(range)
            }()
            let hasEnded = await eventually {
                clock.advance(by: 2)
                clock.fire()
                return isLoaded.withLock { $0 }
            }
            #expect(hasEnded)
            return try await count
        }

        func response(_ range: String) async throws -> DirectClient.Response {
            try await client.response(for: request(range, "film"))
        }
    }

    @Test("many readers of overlapping ranges cause each byte to be sent once")
    func readers() async throws {
        let length = 300_000
        let body = RangedBody(length)
        let fixture = try CachingFixture { body.answer(to: $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<64 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(reader))
                    for _ in 0..<3 {
                        let first = Int.random(in: 0..<length, using: &generator)
                        let last = min(length - 1, first + Int.random(in: 0..<60_000, using: &generator))
                        let got = try await fixture.load("/", ["Range": "bytes=\(first)-\(last)"])
                        #expect(got.status == 206 && got.body == body.text(first..<last + 1))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(body.sent <= length)
        #expect(try await fixture.load().body == body.text())
        #expect(body.sent <= length)
    }

    @Test(
        "parts are of use without the network, as far as they go",
        arguments: [
            CacheStrategy.standard, .cacheFirst(for: .days(1)), .networkFirst(), .staleWhileRevalidate(upTo: .days(1)),
        ]
    )
    func offline(strategy: CacheStrategy) async throws {
        let fixture = try fixture(strategy)
        try await fixture.load("/", ["Range": "bytes=0-499"])
        fixture.origin.stop()
        let rest = try await fixture.load("/", ["Range": "bytes=100-"])
        check(rest, 100..<500, isHit: false)
        #expect(rest.standsIn)
        if strategy != .networkFirst() {
            check(try await fixture.load("/", ["Range": "bytes=400-499"]), 400..<500, isHit: true)
        }
        await #expect(throws: URLError.self) { try await fixture.load("/", ["Range": "bytes=400-500"]) }
        await #expect(throws: URLError.self) { try await fixture.load("/", ["Range": "bytes=500-"]) }
        await #expect(throws: URLError.self) { try await fixture.load() }
        let stored = try await fixture.load("/", ["Range": "bytes=100-"], policy: .returnCacheDataDontLoad)
        check(stored, 100..<500, isHit: true)
        // Parts that are too old need the origin.
        fixture.clock.advance(by: 200_000)
        let isAnyAge = strategy == .networkFirst()
        if isAnyAge {
            #expect(try await fixture.load("/", ["Range": "bytes=100-"]).status == 206)
        } else {
            await #expect(throws: URLError.self) { try await fixture.load("/", ["Range": "bytes=100-"]) }
        }
    }

    @Test(
        "parts that need the origin's consent are of no use without it",
        arguments: ["no-cache, max-age=600", "max-age=0"]
    )
    func offlineWithConsent(control: String) async throws {
        body.change { $0.fields["Cache-Control"] = control }
        let fixture = try fixture()
        try await fixture.load("/", ["Range": "bytes=0-499"])
        fixture.origin.stop()
        await #expect(throws: URLError.self) { try await fixture.load("/", ["Range": "bytes=100-"]) }
    }
}
