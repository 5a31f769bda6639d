#if Gateway
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import Synchronization
import Testing
import Waystation
import WaystationPacks

@testable import WaystationGateway

@Suite("Requests whose bytes have arrived before")
struct RepeatedRequestTests {
    private func request(_ target: String, host: String, _ fields: [String] = []) -> String {
        (["GET \(target) HTTP/1.1", "Host: \(host)"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    /// Sends a request on a connection that stays open, and returns the bytes of the response.
    private func exchange(_ request: String, on connection: RawConnection) async -> Data {
        connection.send(request)
        return await connection.read { RawResponse($0)?.isWhole ?? false }
    }

    /// The responses in the bytes of a whole connection.
    private func count(_ received: Data) -> Int {
        String(decoding: received, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").count - 1
    }

    private func lines(_ response: Data) -> [String] {
        String(decoding: response, as: UTF8.self).components(separatedBy: "\r\n").sorted()
    }

    @Test("get the bytes that the parsed request got, until the file changes")
    func remembered() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        let bytes = request("/a.txt", host: fixture.shop)
        let connection = try RawConnection(fixture.port)
        _ = await exchange(bytes, on: connection)
        let parsed = await exchange(bytes, on: connection)
        #expect(RawResponse(parsed)?.text == "one")

        let serving = fixture.serving()
        let arrived = ByteBuffer(string: bytes)
        #expect(serving.repeatedResponse(to: arrived) == nil)
        try await remember(arrived, "/a.txt", fixture, serving)
        // The order of the fields is that of a dictionary.
        let repeated = try #require(serving.repeatedResponse(to: arrived))
        #expect(lines(Data(repeated.readableBytesView)) == lines(parsed))
        #expect(serving.repeatedResponse(to: ByteBuffer(string: bytes + " ")) == nil)

        try fixture.write(Data("another".utf8), to: "a.txt")
        #expect(serving.repeatedResponse(to: arrived) == nil)
        #expect(RawResponse(await exchange(bytes, on: connection))?.text == "another")
    }

    @Test("are asked anew when the interceptor is switched off")
    func switchedOff() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        _ = try await fixture.get("/a.txt")
        let serving = fixture.serving()
        let arrived = ByteBuffer(string: request("/a.txt", host: fixture.shop))
        try await remember(arrived, "/a.txt", fixture, serving)
        #expect(serving.repeatedResponse(to: arrived) != nil)
        fixture.interceptor.isEnabled = false
        #expect(serving.repeatedResponse(to: arrived) == nil)
    }

    @Test("are not remembered when the app has cookies of its own")
    func cookies() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"], cookies: CookieStore())
        _ = try await fixture.get("/a.txt")
        let serving = fixture.serving()
        let arrived = ByteBuffer(string: request("/a.txt", host: fixture.shop))
        try? await remember(arrived, "/a.txt", fixture, serving)
        #expect(serving.repeatedResponse(to: arrived) == nil)
    }

    @Test("each emit the event of their load")
    func events() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        let events = fixture.interceptor.events
        let connection = try RawConnection(fixture.port)
        let bytes = request("/a.txt", host: fixture.shop)
        for _ in 0..<5 { #expect(RawResponse(await exchange(bytes, on: connection))?.text == "one") }
        var served = 0
        for await event in events {
            guard case .served(from: .files, status: 200, bytes: 3) = event.kind else { continue }
            served += 1
            if served == 5 { break }
        }
        #expect(served == 5)
    }

    @Test("get the file of the pack's present version on one connection")
    func update() async throws {
        let packs = try PackFixture()
        try await packs.install(["a.txt": Data("first".utf8)], at: "https://shop.example/")
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .pack(orElse: .nowhere))]
            $0.packs = packs.library
        }
        let gateway = Gateway(interceptor)
        try await gateway.start()
        let port = try #require(gateway.port)
        let connection = try RawConnection(port)
        let bytes = request("/a.txt", host: "shop-example.localhost:\(port)")
        for _ in 0..<4 { #expect(RawResponse(await exchange(bytes, on: connection))?.text == "first") }
        try await packs.install(["a.txt": Data("second".utf8)], version: "2.0", at: "https://shop.example/")
        for _ in 0..<4 { #expect(RawResponse(await exchange(bytes, on: connection))?.text == "second") }
        await gateway.stop()
    }

    @Test("are bytes of a body when they arrive within one")
    func body() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        let connection = try RawConnection(fixture.port)
        let bytes = request("/a.txt", host: fixture.shop)
        for _ in 0..<3 { #expect(RawResponse(await exchange(bytes, on: connection))?.text == "one") }
        // Expect makes the gateway answer before the body is sent, so that the body arrives in a read of its own.
        let post = [
            "POST /form HTTP/1.1", "Host: \(fixture.shop)", "Content-Length: \(bytes.utf8.count)",
            "Expect: 100-continue", "", "",
        ]
        connection.send(post.joined(separator: "\r\n"))
        let proceed = await connection.read { $0.count >= "HTTP/1.1 100 Continue\r\n\r\n".utf8.count }
        #expect(RawResponse(proceed)?.status == 100)
        connection.send(bytes)
        connection.send(request("/a.txt", host: fixture.shop, ["Connection: close"]))
        let rest = await connection.read()
        #expect(count(rest) == 2)
        #expect(rest.suffix(3) == Data("one".utf8))
    }

    @Test("are answered in their order when two arrive together")
    func pipelined() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one", "b.txt": "two"])
        let connection = try RawConnection(fixture.port)
        let (first, second) = (request("/a.txt", host: fixture.shop), request("/b.txt", host: fixture.shop))
        for _ in 0..<3 {
            #expect(RawResponse(await exchange(first, on: connection))?.text == "one")
            #expect(RawResponse(await exchange(second, on: connection))?.text == "two")
        }
        connection.send(first + second + request("/a.txt", host: fixture.shop, ["Connection: close"]))
        let received = await connection.read()
        #expect(count(received) == 3)
        let text = String(decoding: received, as: UTF8.self)
        #expect(text.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.prefix(3) } == ["one", "two", "one"])
    }

    @Test("may come in parts")
    func parts() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        let connection = try RawConnection(fixture.port)
        let bytes = request("/a.txt", host: fixture.shop)
        for _ in 0..<3 { #expect(RawResponse(await exchange(bytes, on: connection))?.text == "one") }
        connection.send(String(bytes.prefix(20)))
        #expect(RawResponse(await exchange(String(bytes.dropFirst(20)), on: connection))?.text == "one")
        #expect(RawResponse(await exchange(bytes, on: connection))?.text == "one")
    }

    @Test("take 8 MiB at most, and the ones that were used last stay")
    func bound() async throws {
        let fixture = try await GatewayFixture(files: ["a.txt": "one"])
        _ = try await fixture.get("/a.txt")
        let load = try await load("/a.txt", fixture, fixture.serving()).load
        let requests = RepeatedRequests()
        func key(_ number: Int) -> RepeatedRequests.Key { .init(request: ByteBuffer(string: "\(number)"), origin: nil) }
        let response = ByteBuffer(repeating: 0x61, count: RepeatedRequests.responseLimit)
        let count = RepeatedRequests.limit / RepeatedRequests.responseLimit
        for number in 0..<count {
            requests.add(.init(load: load, response: response), for: key(number))
            #expect(requests.entry(of: key(0)) != nil)
        }
        #expect(requests.entry(of: key(1)) == nil)
        let longer = ByteBuffer(repeating: 0x61, count: RepeatedRequests.responseLimit + 1)
        requests.add(.init(load: load, response: longer), for: key(-1))
        #expect(requests.entry(of: key(-1)) == nil)
    }

    @Test("ask a source of the app's own once each, whose answers may differ")
    func ownSource() async throws {
        let source = CountingSource()
        let fixture = try await GatewayFixture(interceptor: {
            $0.rules = [.allow("https://shop.example/**", via: .source(source, orElse: .nowhere))]
        })
        let connection = try RawConnection(fixture.port)
        let bytes = request("/", host: fixture.shop)
        for number in 1...4 {
            #expect(RawResponse(await exchange(bytes, on: connection))?.text == "\(number)")
        }
    }

    private final class CountingSource: AnswerSource {
        let name = "count"
        private let count = Atomic(0)

        func answer(to request: SourceRequest) -> SourceAnswer {
            .response(body: Data("\(count.add(1, ordering: .relaxed).newValue)".utf8))
        }
    }

    // MARK: - Loads without a connection

    /// Remembers a request as a connection does that has parsed it.
    private func remember(
        _ arrived: ByteBuffer,
        _ target: String,
        _ fixture: GatewayFixture,
        _ serving: GatewayServing
    ) async throws {
        let (load, accepted, head) = try await load(target, fixture, serving)
        serving.remember(load, accepted, head, as: arrived)
    }

    private func load(
        _ target: String,
        _ fixture: GatewayFixture,
        _ serving: GatewayServing
    ) async throws -> (load: AnsweredLoad, GatewayServing.Accepted, HTTPRequestHead) {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        head.headers.add(name: "Host", value: fixture.shop)
        let accepted = try serving.accept(head, for: try serving.targets.target(of: head))
        for _ in 0..<10_000 {
            let begun = serving.loads.begin(accepted.request, for: Bystander(), sendsUnclaimed: false)
            if case .answered(let load) = begun { return (load, accepted, head) }
            // A file that has just been written is not kept in memory yet.
            _ = try await fixture.get(target)
        }
        throw NotAnswered()
    }

    private struct NotAnswered: Error {}
}

extension GatewayFixture {
    /// Parts of a gateway as those of this one, which have remembered nothing.
    func serving() -> GatewayServing {
        let loads = ClientLoads(interceptor, .ephemeral)
        return GatewayServing(loads, cookies: interceptor.cookies, GatewayOptions(), port: port) { _ in nil }
    }
}

/// A client that is not there.
private final class Bystander: JourneyClient {
    var decidesAboutRedirects: Bool { false }
    var isReachable: Bool { true }
    var isReady: Bool { true }
    var pieceLength: Int? { nil }
    var needsResponse: Bool { false }
    func perform(_ work: @escaping @Sendable () -> Void) {}
    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (Bool) -> Void) -> Bool { true }
    func take(_ part: Data, of journey: Journey) {}
    func whenPassedOn(_ work: @escaping @Sendable () -> Void) {}
    func end(_ error: (any Error)?) {}
    func didSend(_ count: Int64, total: Int64, expected: Int64) {}
    func follow(_ head: HTTPURLResponse, to next: URLRequest, _ answer: @escaping @Sendable (URLRequest?) -> Void) {}
    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void) {}
    func handBack() -> Bool { false }
}
#endif
