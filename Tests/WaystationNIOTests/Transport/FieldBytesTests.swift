#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import Testing
import Waystation
import WaystationHTTP
import WaystationTestSupport
import WaystationTesting

@testable import WaystationNIO

/// Values of fields that are not UTF-8 (RFC 9110 §5.5).
@Suite("The bytes of fields", .timeLimit(.minutes(10)))
struct FieldBytesTests {
    /// `"café"` by ISO 8859-1.
    private static let tag = [UInt8]("\"caf".utf8) + [0xE9, 0x22]

    private func head(_ fields: [(String, [UInt8])], _ body: String = "body", status: String = "200 OK") -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n".utf8)
        for (name, value) in fields { bytes += Array("\(name): ".utf8) + value + Array("\r\n".utf8) }
        return bytes + Array("\r\n\(body)".utf8)
    }

    private func session(
        cache: ResponseCache? = nil,
        cookies: CookieStore? = nil,
        _ configuration: URLSessionConfiguration = .ephemeral
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("http://127.0.0.1:*/**", via: cache == nil ? .network : .cache(.standard))]
            $0.cache = cache
            $0.cookies = cookies
        }
        return URLSession(configuration: configuration.intercepted(by: interceptor))
    }

    private func load(_ url: String, with session: URLSession) async throws -> HTTPURLResponse {
        let (_, response) = try await session.data(for: URLRequest(url))
        return try #require(response as? HTTPURLResponse)
    }

    @Test("that are not UTF-8 are shown as ISO 8859-1, and those in UTF-8 as what they spell")
    func shown() async throws {
        let answer = head([
            ("X-Latin", [0x63, 0xE9]), ("X-Text", Array("c\u{E9}\u{1F600}".utf8)), ("X-Both", [0xC3, 0xA9, 0xE9]),
            ("Content-Disposition", Array("attachment; filename=\"caf".utf8) + [0xE9] + Array(".txt\"".utf8)),
        ])
        let origin = try RawOrigin { _ in [.request, .sendBytes(answer), .again] }
        let response = try await load(origin.url(), with: try session())
        #expect(response.value(forHTTPHeaderField: "X-Latin") == "c\u{E9}")
        #expect(response.value(forHTTPHeaderField: "X-Text") == "c\u{E9}\u{1F600}")
        #expect(response.value(forHTTPHeaderField: "X-Both") == "\u{C3}\u{A9}\u{E9}")
        #expect(response.allHeaderFields["X-Latin"] as? String == "c\u{E9}")
        #expect(
            response.value(forHTTPHeaderField: "Content-Disposition") == "attachment; filename=\"caf\u{E9}.txt\""
        )
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.fields["X-Latin"] == "c\u{E9}")
        #expect(outcome.fields["X-Text"] == "c\u{E9}\u{1F600}")
    }

    @Test("are those that came, however the head is cut into reads, and the body is left alone")
    func cut() throws {
        let body: [UInt8] = [0xE9, 0x0A, 0xFF, 0x0D, 0x0A, 0xC3, 0xA9]
        var answer = Array("HTTP/1.1 103 Early \u{E9}\r\nLink: \u{E9}\r\n\r\nHTTP/1.1 200 O".utf8) + [0xE9]
        answer += Array("\r\nX: a".utf8) + [0xE9, 0xFF] + Array(" \t \r\nY: \u{E9}\r\nZ: a\tb\t\r\n".utf8)
        answer += Array("Content-Length: 7\t\r\n\r\n".utf8) + body
        for cut in 1..<answer.count {
            let channel = EmbeddedChannel()
            let bytes = FieldBytes()
            bytes.isReadingHead = true
            let reader = Reader(bytes)
            try channel.pipeline.syncOperations.addHandlers([
                bytes, ByteToMessageHandler(HTTPResponseDecoder(informationalResponseStrategy: .forward)), reader,
            ])
            // The decoder takes the first response for that of a request that was sent.
            try channel.pipeline.syncOperations.addHandler(HTTPRequestEncoder(), position: .first)
            let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            try channel.writeOutbound(HTTPClientRequestPart.head(request))
            try channel.writeInbound(ByteBuffer(bytes: answer[..<cut]))
            try channel.writeInbound(ByteBuffer(bytes: answer[cut...]))
            #expect(reader.head?.status == 200, "\(cut)")
            let values = (reader.head?.fields ?? []).map { FieldText.bytes(of: $0.value) }
            let expected = [[0x61, 0xE9, 0xFF], Array("\u{E9}".utf8), Array("a\tb".utf8), Array("7".utf8)]
            #expect(values == expected, "\(cut)")
            #expect(reader.body == body, "\(cut)")
            _ = try channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test("A line of white space does not end a head", arguments: ["\t", "\t\t", " \t", "\t "])
    func blankLine(blanks: String) async throws {
        let answer = "HTTP/1.1 200 OK\r\nX: a\r\n\(blanks)\r\nContent-Length: 2\r\n\r\nok"
        let origin = try RawOrigin { _ in [.request, .send(answer), .close] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.code == .unknown)
        #expect(outcome.status == nil)
    }

    @Test("of an entity tag are sent back as they came, also from the disk", arguments: [false, true])
    func tag(reopens: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bytes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let fields = [("ETag", Self.tag), ("Cache-Control", Array("no-cache".utf8))]
        let first = head(fields)
        let notModified = head(fields, "", status: "304 Not Modified")
        let origin = try RawOrigin { number in
            (number == 0 ? [.request, .sendBytes(first)] : []) + [.request, .sendBytes(notModified)]
        }
        let cache = try ResponseCache(directory: folder)
        var session = try session(cache: cache)
        _ = try await load(origin.url(), with: session)
        await cache.flush()
        if reopens { session = try self.session(cache: ResponseCache(directory: folder)) }
        let again = try await load(origin.url(), with: session)
        #expect(again.value(forHTTPHeaderField: "ETag") == "\"caf\u{E9}\"")
        let sent = origin.requests.last?.values(of: "if-none-match").first
        #expect(sent.map(FieldText.bytes) == Self.tag)
        #expect(again.value(forHTTPHeaderField: "Cache-Status")?.contains("fwd-status=304") == true)
    }

    @Test("of a Location are requested as they came", arguments: [false, true])
    func location(isStored: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bytes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = head(
            [("Location", Array("/caf".utf8) + [0xE9]), ("Cache-Control", Array("max-age=60".utf8))],
            "",
            status: "301 Moved"
        )
        let ok = head([])
        let origin = try RawOrigin { _ in
            [.request, .sendBytes(found), .request, .sendBytes(ok), .request, .sendBytes(ok)]
        }
        let session = try session(cache: isStored ? ResponseCache(directory: folder) : nil)
        let loads = isStored ? 2 : 1
        for _ in 0..<loads {
            let response = try await load(origin.url(), with: session)
            #expect(response.url?.absoluteString == origin.url("/caf%E9"))
        }
        let targets = ["/"] + [String](repeating: "/caf%E9", count: loads)
        #expect(origin.requests.map(\.line) == targets.map { "GET \($0) HTTP/1.1" })
    }

    @Test("of a Location in UTF-8 are those of its text")
    func utf8Location() async throws {
        let found = head([("Location", Array("/caf\u{E9}".utf8))], "", status: "302 Found")
        let ok = head([])
        let origin = try RawOrigin { _ in [.request, .sendBytes(found), .request, .sendBytes(ok)] }
        _ = try await load(origin.url(), with: try session())
        #expect(origin.requests.last?.line == "GET /caf%C3%A9 HTTP/1.1")
    }

    @Test("of a cookie are sent back as they came", arguments: [false, true])
    func cookie(hasStore: Bool) async throws {
        let set = head([("Set-Cookie", Array("a=caf".utf8) + [0xE9] + Array("; Path=/".utf8))])
        let origin = try RawOrigin { _ in [.request, .sendBytes(set), .again] }
        let session = try session(cookies: hasStore ? CookieStore() : nil)
        for _ in 1...2 { _ = try await load(origin.url(), with: session) }
        let sent = origin.requests.last?.values(of: "cookie").first
        #expect(sent.map(FieldText.bytes) == Array("a=caf".utf8) + [0xE9])
    }

    @Test("that HTTP/2 loses are asked for over HTTP/1.1, if the request may be sent twice")
    func http2() async throws {
        let context = try Certificates.shared.get().server("name", protocols: ["h2", "http/1.1"])
        let server = try await HTTP1RequiringServer.start(tls: context, .replacedBytes)
        var options = NIOOptions()
        options.environment = [:]
        options.additionalTrustedRoots = [.pemFile(path: try Certificates.shared.get().path("ca.pem"))]
        let transport = NIOTransport(configuration: .ephemeral, options: options)
        let post = await transport.load(URLRequest(server.url) { $0.httpMethod = "POST" })
        #expect(post.fields["etag"] == "\"caf\u{FFFD}\"")
        #expect(await transport.load(server.url).text == "GET ")
        #expect(await transport.load(server.url).text == "GET ")
        #expect(server.counts == .init(http2Connections: 1, http2Requests: 2, http1Requests: 2))
        try await server.stop()
    }

    @Test("of a request go over HTTP/1.1, since HTTP/2 cannot carry them", arguments: ["GET", "POST"])
    func requestOverHTTP2(method: String) async throws {
        let context = try Certificates.shared.get().server("name", protocols: ["h2", "http/1.1"])
        let server = try await HTTP1RequiringServer.start(tls: context, .replacedBytes)
        var options = NIOOptions()
        options.environment = [:]
        options.additionalTrustedRoots = [.pemFile(path: try Certificates.shared.get().path("ca.pem"))]
        let transport = NIOTransport(configuration: .ephemeral, options: options)
        let request = URLRequest(server.url) {
            $0.httpMethod = method
            $0.setValue(FieldText.text(of: Self.tag), forHTTPHeaderField: "If-None-Match")
        }
        #expect(await transport.load(request).text == "\(method) ")
        #expect(server.counts == .init(http2Connections: 1, http2Requests: 0, http1Requests: 1))
        try await server.stop()
    }

    @Test("are known to be lost where the codec of HTTP/2 has replaced one")
    func lost() throws {
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        for (value, isLost) in [([UInt8](Self.tag), true), (Array("caf\u{E9}".utf8), false), ([0xFF], true)] {
            // `:status: 200` of the static table, and a literal field without indexing (RFC 7541 §6.2.2).
            var block = ByteBuffer(bytes: [0x88, 0x00, 0x01, 0x78, UInt8(value.count)] + value)
            let head = try ResponseHeadCheck.read(decoder.decodeHeaders(from: &block), maximumFields: 10).get()
            #expect(head.hasLostBytes == isLost)
        }
    }

    /// Reads the parts of a response as a connection does.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let bytes: FieldBytes
        private(set) var head: EngineResponseHead?
        private(set) var body: [UInt8] = []

        init(_ bytes: FieldBytes) { self.bytes = bytes }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head) where head.status.code < 200: break
            case .head(let head):
                bytes.isReadingHead = false
                self.head = EngineResponseHead(readByFieldBytes: head)
            case .body(let part): body += part.readableBytesView
            case .end: break
            }
        }
    }
}
#endif
