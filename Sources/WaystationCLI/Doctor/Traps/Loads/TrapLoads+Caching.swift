import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads whose responses may be stored.
extension TrapLoads {
    func storedResponse() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("stored", fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder) { $0.urlCache = memoryCache }
        for _ in 0..<2 { _ = try await session.data(from: origin.url("/a")) }
        return origin.requestCount == 1 ? nil : "URLCache stores nothing: two loads are two requests"
    }

    func queryOfStoredResponse() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.target, fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let cache = memoryCache
        let session = try cachingSession(in: folder) { $0.urlCache = cache }
        let first = origin.url("/a?x=1")
        let (data, response) = try await session.data(from: first)
        // URLCache does not store by itself what a session loads; the cache of Waystation is another one.
        cache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: URLRequest(url: first))
        let (other, _) = try await session.data(from: origin.url("/a?x=2"))
        return other == Data("/a?x=2".utf8) ? nil : "the stored response to ?x=1 answers ?x=2"
    }

    func canonicalRequest() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.target, fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder) { $0.protocolClasses = [CanonicalProtocol.self] }
        let answers = [
            try await session.data(from: origin.url("/~a")).0, try await session.data(from: origin.url("/%7Ea")).0,
        ]
        return answers[0] == answers[1] ? nil : "canonicalRequest(for:) is never called"
    }

    func fieldsOfDecodedBody() async throws -> String? {
        let origin = try ScriptedOrigin { _ in
            .ok(Self.zipped, fields: ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"])
        }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder, storesCodedBodies: true) { $0.urlCache = memoryCache }
        _ = try await session.data(from: origin.url("/a"))
        let (data, response) = try await session.data(from: origin.url("/a"))
        let coding = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding")
        guard coding != nil || response.expectedContentLength != data.count else { return nil }
        return "a body of \(data.count) bytes has a Content-Length of \(response.expectedContentLength)"
    }

    private static let fresh: KeyValuePairs = ["Cache-Control": "max-age=3600"]

    private var memoryCache: URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }
}
