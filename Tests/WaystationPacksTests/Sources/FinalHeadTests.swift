import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

#if NIO
import WaystationNIO
#endif

/// The fetchers of an app: by Foundation, and by the engine on SwiftNIO.
enum Engine: String, CaseIterable, Sendable {
    case foundation
    #if NIO
    case nio
    #endif

    var fetcher: any PackFetching {
        switch self {
        case .foundation: URLSessionFetcher()
        #if NIO
        case .nio: TransportFetcher(NIOTransport(configuration: .ephemeral))
        #endif
        }
    }
}

@Suite("The final head (RFC 9110 §15.2)", .timeLimit(.minutes(10)))
struct FinalHeadTests {
    /// A response after interim ones.
    private static func response(
        _ status: String,
        after interim: [String],
        fields: [String] = [],
        _ body: String = "page"
    ) -> ScriptedOrigin.Response {
        let heads = interim.map { "HTTP/1.1 \($0)\r\nX-Interim: 1\r\nLink: </a>; rel=preload\r\n\r\n" }.joined()
        let isEmpty = status.hasPrefix("304")
        let length = isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let head = (["HTTP/1.1 \(status)", "X-Final: 1"] + fields + length).joined(separator: "\r\n")
        return .raw(Data("\(heads)\(head)\r\n\r\n\(isEmpty ? "" : body)".utf8))
    }

    private static let early = ["103 Early Hints"]

    @Test(
        "is the response's own, however many interim ones come before it",
        arguments: Engine.allCases,
        [[], early, ["100 Continue", "103 Early Hints", "103 Early Hints"]]
    )
    func statuses(engine: Engine, interim: [String]) async throws {
        for status in ["200 OK", "206 Partial Content", "304 Not Modified", "404 Not Found", "412 Precondition Failed"]
        {
            let origin = try ScriptedOrigin { _ in Self.response(status, after: interim) }
            let response = try await engine.fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
            #expect("\(response.status)" == status.prefix(3))
            #expect(response.fields[values: try #require(HTTPField.Name("X-Final"))] == ["1"])
            #expect(response.fields[try #require(HTTPField.Name("X-Interim"))] == nil)
            let body = try await response.body.reduce(into: Data()) { $0 += $1 }
            #expect(String(decoding: body, as: UTF8.self) == (status.hasPrefix("304") ? "" : "page"))
        }
    }

    @Test("of a download decides, whole or resumed, with and without a digest", arguments: Engine.allCases)
    func downloads(engine: Engine) async throws {
        let bytes = "0123456789"
        let origin = try ScriptedOrigin { request in
            switch (request.path, request.order) {
            case ("/missing.zip", _): Self.response("404 Not Found", after: Self.early)
            case (_, 1): .truncated(Data(bytes.utf8), after: 4, fields: ["ETag": "\"a\""])
            default:
                Self.response(
                    "206 Partial Content",
                    after: Self.early,
                    fields: ["ETag: \"a\"", "Content-Range: bytes 4-9/10"],
                    String(bytes.dropFirst(4))
                )
            }
        }
        let directory = try TemporaryDirectory()
        let downloader = ArtifactDownloader(directory: directory.url, fetcher: engine.fetcher)
        // Without a digest, nothing else shows that the page is no pack.
        let missing = Artifact(url: origin.url("/missing.zip"))
        #expect(await errorCode { try await downloader.download(missing) } == .refused)
        #expect(try directory.names.isEmpty)
        let artifact = Artifact(url: origin.url("/pack.zip"))
        #expect(await errorCode { try await downloader.download(artifact) } == .interrupted)
        let done = try await downloader.download(artifact)
        #expect(try Data(contentsOf: done.file) == Data(bytes.utf8))
        #expect(done.fetched == 6)
    }

    @Test("of an answer about updates decides", arguments: Engine.allCases)
    func answers(engine: Engine) async throws {
        let origin = try ScriptedOrigin { _ in Self.response("404 Not Found", after: Self.early, "[]") }
        let module = try Sample.module("shop")
        let sources: [any PackSource] = [
            ModuleListSource(origin.url("/modules"), fetcher: engine.fetcher),
            SinglePackSource(origin.url("/package"), module: module, fetcher: engine.fetcher),
            CatalogueSource(origin.url("/catalogue.json"), trusting: [], fetcher: engine.fetcher),
        ]
        for source in sources {
            let error = await #expect(throws: PackError.self) { try await source.check(try Sample.inquiry()) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("status 404") == true)
        }
    }

    #if NIO
    @Test(
        "is the server's, not that of the proxy which opens the tunnel",
        arguments: ["200 OK", "206 Partial Content", "304 Not Modified", "404 Not Found", "412 Precondition Failed"]
    )
    func tunnel(status: String) async throws {
        let origin = try await SecuredOrigin(versions: .http1) { _ in Self.response(status, after: Self.early) }
        let proxy = try ScriptedOrigin { _ in .tunnel(to: UInt16(origin.port)) }
        var options = origin.options
        options.environment = ["https_proxy": "http://127.0.0.1:\(proxy.port)"]
        let fetcher = TransportFetcher(NIOTransport(configuration: .ephemeral, options: options))
        let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        #expect("\(response.status)" == status.prefix(3))
        #expect(proxy.requests.map(\.method) == ["CONNECT"])
    }
    #endif
}
