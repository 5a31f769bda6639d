import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationOrigin
import WaystationProcesses

@Suite("Responses that may be incomplete (RFC 9111 §3.3)")
struct WholenessEndToEndTests {
    private static let strategies: [CacheStrategy] = [.standard, .cacheFirst(for: .days(1))]

    private func loads(_ fields: String, body: Data, _ strategy: CacheStrategy) async throws -> CachingFixture {
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nConnection: close\r\n\(fields)\r\n\r\n"
        let fixture = try CachingFixture(strategy) { _ in .raw(Data(head.utf8) + body) }
        for _ in 0..<2 { try await fixture.load() }
        return fixture
    }

    @Test(
        "a response with an invalid or contradictory length is delivered and not stored",
        arguments: [
            "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 6\r\nContent-Length: 5", "Content-Length: 5, 6",
            "Content-Length: 5abc", "Content-Length: 0x5", "Content-Length: +5", "Content-Length: 5,",
        ],
        strategies
    )
    func length(fields: String, strategy: CacheStrategy) async throws {
        let fixture = try await loads(fields, body: Data("hello!".utf8), strategy)
        #expect(fixture.origin.requestCount == 2)
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test("a response with length and transfer coding is delivered, not stored (RFC 9112 §6.1)", arguments: strategies)
    func lengthAndChunks(strategy: CacheStrategy) async throws {
        let fixture = try await loads(
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            body: Data("5\r\nhello\r\n0\r\n\r\n".utf8),
            strategy
        )
        #expect(fixture.origin.requestCount == 2)
        #expect(await fixture.cache.statistics.entries == 0)
    }

    @Test(
        "a length that is repeated without a contradiction counts once (RFC 9110 §8.6)",
        arguments: ["Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5", "Content-Length: 05"]
    )
    func repeated(fields: String) async throws {
        let fixture = try await loads(fields, body: Data("hello".utf8), .standard)
        #expect(try await fixture.load().body == "hello")
        #expect(fixture.origin.requestCount == 1)
    }

    // MARK: - Content codings

    private static let text = Data((0..<400).map { "\($0 * 7919 % 1000) " }.joined().utf8)

    /// The text, compressed by gzip.
    private static func gzipped() throws -> Data {
        let file = FileManager.default.temporaryDirectory.appending(path: "waystation-\(UUID().uuidString)")
        try text.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try SpawnedProcess.run("/bin/gzip", ["-c", file.path]).output
    }

    /// The part of the coded bytes that the origin sends.
    enum Cut: CaseIterable, Sendable {
        case half, withoutTrailer, withoutLastByte

        func part(of whole: Data) -> Data {
            switch self {
            case .half: whole.prefix(whole.count / 2)
            case .withoutTrailer: whole.dropLast(8)
            case .withoutLastByte: whole.dropLast()
            }
        }
    }

    @Test(
        "a gzip body that is cut under a matching length is not stored",
        arguments: Cut.allCases,
        [true, false]
    )
    func cutCoding(cut: Cut, isChunked: Bool) async throws {
        let part = cut.part(of: try Self.gzipped())
        let fixture = try CachingFixture(.cacheFirst(for: .days(1))) { _ in
            .stream(
                [.bytes(part)],
                fields: ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"],
                framing: isChunked ? .chunked : .contentLength
            )
        }
        for _ in 0..<2 { _ = try? await fixture.load() }
        #expect(fixture.origin.requestCount == 2)
        #expect(await fixture.cache.statistics.entries == 0)
    }
}
