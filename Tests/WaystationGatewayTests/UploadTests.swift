#if Gateway
import Foundation
import Glibc
import Synchronization
import Testing
import Waystation
import WaystationStorage
import WaystationGateway
import WaystationNIO
import WaystationTestSupport
import WaystationTesting

@Suite("Bodies of requests through a gateway", .timeLimit(.minutes(10)))
struct UploadTests {
    @Test(
        "have their length at the origin by the engine on SwiftNIO, whether they were kept in memory or in a file",
        arguments: [10, 3 << 20],
        [true, false]
    )
    func length(length: Int, isChunked: Bool) async throws {
        let origin = try ScriptedOrigin { .ok("\($0.bodyLength)") }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.bodySpool = BodySpool(memory: .kibibytes(64), directory: FileManager.default.temporaryDirectory)
        } interceptor: {
            $0.transport = .nio
        }
        let body = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let connection = try RawConnection(fixture.port)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        connection.send(
            "POST /form HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nConnection: close\r\n\(framing)\r\n\r\n"
        )
        if isChunked { connection.send(String(length, radix: 16) + "\r\n") }
        connection.send(body)
        if isChunked { connection.send("\r\n0\r\n\r\n") }
        #expect(try #require(RawResponse(await connection.read())).text == "\(length)")
        let request = try #require(origin.requests.first)
        #expect(request.body == body)
        #expect(request.value(of: "Content-Length") == "\(length)")
        #expect(request.value(of: "Transfer-Encoding") == nil)
    }

    @Test("that are large reach the origin while the client sends them")
    func streamed() async throws {
        let upload = try await Upload { _ in nil }
        upload.sendFirstHalf()
        await upload.reachOrigin()
        upload.sendSecondHalf()
        #expect(try await upload.response.text == "\(upload.body.count)")
        #expect(upload.origin.requests.map(\.body) == [upload.body])
    }

    @Test("are sent again from their first byte, with a renewed token, if the origin refuses them while they arrive")
    func refused() async throws {
        let renewals = Atomic(0)
        let cookie = LoginCookie.named("token", domain: "127.0.0.1", isHostOnly: true, isSecure: false)
        let login = LoginSession(cookie: cookie, timeout: .minutes(5)) {
            "t\(renewals.add(1, ordering: .relaxed).newValue)"
        }
        let upload = try await Upload(login: login) { $0.value(of: "Cookie") == "token=t2" ? nil : .status(401) }
        upload.sendFirstHalf()
        await upload.reachOrigin()
        await upload.reachOrigin()
        upload.sendSecondHalf()
        #expect(try await upload.response.text == "\(upload.body.count)")
        #expect(upload.origin.requests.map(\.body) == [Data(), upload.body])
    }

    @Test("need not be sent to their end if the origin answers before, and the connection ends then")
    func answeredEarly() async throws {
        let upload = try await Upload { _ in .status(413) }
        upload.sendFirstHalf()
        let response = try await upload.response
        #expect(response.status == 413)
        #expect(response["Connection"] == "close")
        upload.connection.endSending()
        #expect(await upload.connection.read().isEmpty)
    }

    @Test("end at the origin if the client leaves while it sends them")
    func abandoned() async throws {
        let upload = try await Upload { _ in .unanswered }
        upload.sendFirstHalf()
        await upload.reachOrigin()
        upload.connection.leave()
        #expect(await upload.origin.waitForAbandonedRequests(1).count == 1)
    }

    @Test("end at the origin, and are refused with 408, if the rest does not arrive in time")
    func slow() async throws {
        // On a slow machine, the time can be over before the gateway has sent the first part on.
        for limit in [50, 500, 5_000, 50_000] {
            let hasReachedOrigin = Atomic(false)
            let upload = try await Upload({ $0.requestTimeout = .milliseconds(limit) }) { _ in
                hasReachedOrigin.store(true, ordering: .relaxed)
                return .unanswered
            }
            upload.sendFirstHalf()
            #expect(try await upload.response.status == 408)
            guard hasReachedOrigin.load(ordering: .relaxed) else { continue }
            #expect(await upload.origin.waitForAbandonedRequests(1).count == 1)
            return
        }
        Issue.record("the origin was never reached")
    }

    @Test(
        "end at the origin, and are refused with 507, if the disk becomes full before their last part or earlier",
        arguments: [1, 256 << 10]
    )
    func full(missing count: Int) async throws {
        let isFull = Atomic(false)
        let fileSystem = FaultyFileSystem { operation, path in
            guard operation == .write, isFull.load(ordering: .relaxed) else { return }
            throw FileError("write", path, code: ENOSPC)
        }
        let upload = try await Upload({ $0.bodySpool.fileSystem = fileSystem }) { _ in .unanswered }
        upload.sendFirst(upload.body.count - count)
        await upload.reachOrigin()
        #expect(await eventually { fileSystem.bytesWritten == upload.body.count - count })
        isFull.store(true, ordering: .relaxed)
        upload.sendLast(count)
        let response = try await upload.response
        #expect(response.status == 507, "\(response.text)")
        #expect(await upload.origin.waitForAbandonedRequests(1).count == 1)
    }

    @Test("that are stored after their answer are not sent for the next request of the connection")
    func storedLate() async throws {
        let answering = try ScriptedOrigin.Gate()
        let isHeld = Atomic(false)
        let isHolding = Atomic(false)
        let disk = DispatchSemaphore(value: 0)
        let fileSystem = FaultyFileSystem { operation, _ in
            guard operation == .write, isHeld.load(ordering: .relaxed) else { return }
            isHolding.store(true, ordering: .relaxed)
            disk.wait()
            disk.signal()
        }
        let upload = try await Upload({ $0.bodySpool.fileSystem = fileSystem }) { request in
            request.target == "/form" ? .ok("early").held(at: answering) : nil
        }
        upload.sendFirst(upload.body.count - 1)
        await upload.reachOrigin()
        #expect(await eventually { fileSystem.bytesWritten == upload.body.count - 1 })
        isHeld.store(true, ordering: .relaxed)
        let next = "PUT /next HTTP/1.1\r\nHost: \(upload.name)\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        upload.connection.send(upload.body.suffix(1) + Data(next.utf8))
        #expect(await eventually { isHolding.load(ordering: .relaxed) })
        answering.open()
        // The next request has begun when the gateway asks for its body.
        let begin = await upload.connection.read { $0.range(of: Data("100 Continue\r\n\r\n".utf8)) != nil }
        #expect(String(decoding: begin, as: UTF8.self).contains("\r\n\r\nearly"))
        disk.signal()
        #expect(await eventually { fileSystem.bytesWritten == upload.body.count })
        upload.connection.send("xy")
        #expect(try await upload.response.text == "2")
        #expect(upload.origin.requests.last?.body == Data("xy".utf8))
    }

    @Test("are given to Foundation's engine when they have arrived as a whole, and hold up no other load before")
    func whole() async throws {
        let upload = try await Upload(by: .urlSession) { _ in nil }
        upload.sendFirstHalf()
        let other = "GET /other HTTP/1.1\r\nHost: \(upload.name)\r\nConnection: close\r\n\r\n"
        // The first ones may be answered before the half has reached the gateway.
        for _ in 0..<20 { #expect(try await upload.fixture.send(other).text == "0") }
        upload.sendSecondHalf()
        #expect(try await upload.response.text == "\(upload.body.count)")
        #expect(upload.origin.requests.map(\.body) == Array(repeating: Data(), count: 20) + [upload.body])
    }
}

/// A request with a large body, sent through a gateway in two parts.
///
/// The gateway always takes both, so sending them does not block.
private struct Upload {
    let body = Data((0..<(512 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let origin: ScriptedOrigin
    let fixture: GatewayFixture
    let connection: RawConnection
    private let arrivals: AsyncStream<Void>

    /// Makes the request, and sends nothing.
    ///
    /// - Parameters:
    ///   - options: Changes the gateway's options.
    ///   - transport: The engine that sends the request to the origin.
    ///   - login: A login that the rule of the origin requires.
    ///   - early: Returns the origin's answer to a request whose body it does not read; nil to read the body first, and to
    ///     answer with its length.
    /// - Throws: An error when a server cannot be started.
    init(
        _ options: (inout GatewayOptions) -> Void = { _ in },
        by transport: Interceptor.Carrier = .nio,
        login: LoginSession? = nil,
        early: @escaping ScriptedOrigin.EarlyScript
    ) async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let origin = try ScriptedOrigin(early: {
            defer { arrival.yield() }
            return early($0)
        }) {
            .ok("\($0.bodyLength)")
        }
        fixture = try await GatewayFixture(origin: origin) {
            $0.bodySpool.memory = .kibibytes(64)
            options(&$0)
        } interceptor: {
            $0.transport = transport
            $0.login = login
            guard login != nil else { return }
            $0.cookies = CookieStore()
            $0.rules.insert(.allow("\(origin.url())form", via: .network, requiresLogin: .always), at: 0)
        }
        self.origin = origin
        connection = try RawConnection(fixture.port)
        self.arrivals = arrivals
    }

    var name: String { fixture.name(of: origin) }

    func sendFirstHalf() { sendFirst(body.count / 2) }
    func sendSecondHalf() { sendLast(body.count / 2) }

    /// Sends the head, and the first bytes of the body.
    func sendFirst(_ count: Int) {
        connection.send(
            "PUT /form HTTP/1.1\r\nHost: \(name)\r\nContent-Length: \(body.count)\r\n\r\n"
        )
        connection.send(body.prefix(count))
    }

    /// Sends the last bytes of the body.
    func sendLast(_ count: Int) { connection.send(body.suffix(count)) }

    var response: RawResponse {
        get async throws {
            try #require(RawResponse(await connection.read { RawResponse($0)?.isWhole == true }))
        }
    }

    /// Waits until the next head of a request has arrived at the origin.
    func reachOrigin() async { for await _ in arrivals { return } }
}
#endif
