#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Testing
import Waystation

@testable import WaystationNIO

@Suite("Content codings", .timeLimit(.minutes(10)))
struct DecodingTests {
    private func transport() -> NIOTransport {
        var parts = EngineParts()
        parts.codings = ["double"]
        parts.makeDecoder = { codings, _ in codings == ["double"] ? RepeatingDecoder() : nil }
        return NIOTransport(configuration: .ephemeral, options: .init(), parts: parts)
    }

    private func load(_ fields: String, _ body: String, method: String = "GET") async throws -> Recorder.Outcome {
        let origin = try RawOrigin { _ in
            [
                .request,
                .send(
                    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(method == "HEAD" ? "" : body)"
                ),
            ]
        }
        let outcome = await transport().load(URLRequest(origin.url()) { $0.httpMethod = method })
        #expect(origin.requests.first?.values(of: "Accept-Encoding") == ["double"])
        #expect(outcome.wrongCalls == 0)
        return outcome
    }

    @Test("are removed; the fields stay as the server sent them")
    func decoded() async throws {
        let outcome = try await load("Content-Encoding: Double\r\n", "abc")
        #expect(outcome.text == "aabbcc")
        #expect(outcome.error == nil)
        #expect(outcome.fields == ["Content-Encoding": "Double", "Content-Length": "3"])
    }

    @Test("The coding identity changes nothing")
    func identity() async throws {
        #expect(try await load("Content-Encoding: identity\r\n", "abc").text == "abc")
    }

    @Test(
        "that the engine does not know are left alone, all of them, and so is their field",
        arguments: [
            "foo", "utf-8", "aws-chunked", "double, foo", "foo, double", "double, double", "gzip, utf-8", "FOO",
        ]
    )
    func unknown(coding: String) async throws {
        let outcome = try await load("Content-Encoding: \(coding)\r\n", "abc")
        #expect(outcome.error == nil)
        #expect(outcome.text == "abc")
        #expect(outcome.fields == ["Content-Encoding": coding, "Content-Length": "3"])
    }

    @Test(
        "that say that there is none change nothing",
        arguments: ["none", "identity", "", " ", ",", "None, identity", "identity,none"]
    )
    func none(coding: String) async throws {
        let outcome = try await load("Content-Encoding: \(coding)\r\n", "abc")
        #expect(outcome.error == nil)
        #expect(outcome.text == "abc")
    }

    @Test("that say that there is none, beside others, are left out", arguments: ["double, none", "identity,, DOUBLE"])
    func noneBesideOthers(coding: String) async throws {
        #expect(try await load("Content-Encoding: \(coding)\r\n", "abc").text == "aabbcc")
    }

    @Test("that others know, and this machine cannot remove, end the load with -1, without a head")
    func notRemovable() async throws {
        for coding in ["br", "gzip, zstd"] {
            let outcome = try await load("Content-Encoding: \(coding)\r\n", "abc")
            #expect(outcome.code == .unknown)
            #expect(outcome.status == nil)
            #expect(outcome.error?.localizedDescription.contains(coding) == true)
        }
    }

    @Test(
        "that the engine does not know do not keep a response out of the cache, and the field is stored",
        arguments: ["utf-8", "aws-chunked", "gzip, utf-8", "none"]
    )
    func stored(coding: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "codings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let fields = "Content-Encoding: \(coding)\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\nContent-Length: 3"
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nabc"), .again] }
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder)
        }
        let session = URLSession(configuration: URLSessionConfiguration.ephemeral.intercepted(by: interceptor))
        for _ in 1...2 {
            let (body, response) = try await session.data(for: URLRequest(origin.url()))
            let head = try #require(response as? HTTPURLResponse)
            #expect(body == Data("abc".utf8))
            #expect(head.value(forHTTPHeaderField: "Content-Encoding") == coding)
            #expect(head.value(forHTTPHeaderField: "ETag") == "\"a\"")
        }
        #expect(origin.requests.count == 1)
    }

    @Test("that are damaged end the load with -1, after the decoded part")
    func damaged() async throws {
        let outcome = try await load("Content-Encoding: double\r\n", "ab!c")
        #expect(outcome.code == .unknown)
        #expect(outcome.text == "aabb")
    }

    @Test("that decode to nothing for a while deliver no empty parts")
    func slow() async throws {
        let origin = try RawOrigin { _ in
            [.request, .send("HTTP/1.1 200 OK\r\nContent-Encoding: slow\r\nContent-Length: 3\r\n\r\nabc")]
        }
        var parts = EngineParts()
        parts.makeDecoder = { _, _ in HesitatingDecoder() }
        let transport = NIOTransport(configuration: .ephemeral, options: .init(), parts: parts)
        let outcome = await transport.load(URLRequest(origin.url()))
        #expect(outcome.text == "abc")
        #expect(outcome.partCount == 3)
        #expect(outcome.error == nil)
    }

    @Test("do not matter to responses without a body")
    func head() async throws {
        let outcome = try await load("Content-Encoding: foo\r\n", "abc", method: "HEAD")
        #expect(outcome.status == 200)
        #expect(outcome.error == nil)
    }
}

/// Decodes each byte to itself, but decodes to nothing at every other call.
private struct HesitatingDecoder: ContentDecoder {
    private var held: [UInt8] = []
    private var hesitates = false

    mutating func append(_ part: ByteBuffer) { held += part.readableBytesView }

    mutating func next() -> Data? {
        hesitates.toggle()
        if hesitates { return Data() }
        return held.isEmpty ? nil : Data([held.removeFirst()])
    }

    mutating func finish() {}
}
#endif
