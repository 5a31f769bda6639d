import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationHTTP

extension ResponseHead {
    /// A head as a transport delivers it.
    static func head(
        _ status: Int,
        _ fields: [String: String] = [:],
        at url: String = "https://a.example/x"
    ) throws -> ResponseHead {
        ResponseHead(url: try #require(URL(string: url)), statusCode: status, fields: fields)
    }
}

extension HTTPURLResponse {
    /// A head as Foundation delivers it.
    static func head(
        _ status: Int,
        _ fields: [String: String] = [:],
        at url: String = "https://a.example/x"
    ) throws -> HTTPURLResponse {
        let url = try #require(URL(string: url))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        )
    }
}

extension URLRequest {
    /// Makes a request with its method, fields and body.
    init(_ method: String = "GET", _ url: String, _ fields: [String: String] = [:], body: String? = nil) throws {
        self.init(url: try #require(URL(string: url)))
        httpMethod = method
        for (name, value) in fields { setValue(value, forHTTPHeaderField: name) }
        httpBody = body.map { Data($0.utf8) }
    }
}

extension CacheRequest {
    /// The cache's view of a request for a URL in canonical form.
    init?(_ request: URLRequest, canonical url: String) {
        guard let url = CanonicalURL(url) else { return nil }
        self.init(request, canonical: url)
    }

    /// The key of a request for a URL in canonical form.
    static func key(of request: URLRequest, at url: URL) throws -> RequestKey {
        key(of: request, canonical: try #require(CanonicalURL(url.absoluteString)))
    }
}
