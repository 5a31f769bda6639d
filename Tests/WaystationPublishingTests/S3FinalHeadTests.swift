import Foundation
import FoundationNetworking
import Testing
import WaystationPacks
import WaystationTesting

@testable import WaystationPublishing

#if NIO
import WaystationNIO
#endif

@Suite("The final head of a store (RFC 9110 §15.2)", .timeLimit(.minutes(10)))
struct S3FinalHeadTests {
    private static let fetchers: [@Sendable () -> any PackFetching] = {
        var fetchers: [@Sendable () -> any PackFetching] = [{ URLSessionFetcher() }]
        #if NIO
        fetchers.append { TransportFetcher(NIOTransport(configuration: .ephemeral)) }
        #endif
        return fetchers
    }()

    @Test("decides whether an object was stored, and whether there is one", arguments: fetchers.indices)
    func decides(index: Int) async throws {
        @Sendable func response(_ status: String, _ body: String = "") -> ScriptedOrigin.Response {
            let head = "HTTP/1.1 \(status)\r\nETag: \"1\"\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            return .raw(Data("HTTP/1.1 103 Early Hints\r\nETag: \"0\"\r\n\r\n\(head)\(body)".utf8))
        }
        let origin = try ScriptedOrigin { request in
            switch (request.method, request.value(of: "If-None-Match")) {
            case ("PUT", "*"): response("412 Precondition Failed", "<Error><Code>PreconditionFailed</Code></Error>")
            case ("PUT", _): response("200 OK")
            case _ where request.path.hasSuffix("/here"): response("200 OK", "bytes")
            default: response("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>")
            }
        }
        let bucket = try S3Bucket(
            "s3://releases",
            .init(
                credentials: S3Credentials(accessKey: "k", secretKey: "s"),
                endpoint: origin.url("/"),
                fetcher: Self.fetchers[index]()
            )
        )
        #expect(try await bucket.write(Data("a".utf8), to: "here", as: .changing, if: .absent) == .lost)
        #expect(try await bucket.write(Data("a".utf8), to: "here", as: .changing, if: nil) == .stored)
        #expect(try await bucket.read("missing", limit: 100) == nil)
        let object = try await bucket.read("here", limit: 100)
        #expect(object?.data == Data("bytes".utf8))
        #expect(object?.version == "\"1\"")
    }
}
