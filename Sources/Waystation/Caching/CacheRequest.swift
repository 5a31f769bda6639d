import Crypto
import Foundation
package import FoundationNetworking
package import HTTPTypes
package import WaystationStorage

/// What the cache needs to know of a request: the key of what may answer it, and the request in HTTP's own terms.
package struct CacheRequest: Sendable {
    /// Responses are stored under GET; they answer HEAD too (RFC 9110 §9.3.2).
    package private(set) var key: RequestKey
    package private(set) var message: HTTPRequest
    /// Whether cookies may be sent that the request does not show: Foundation adds them after a redirect to another
    /// origin, and does not say which.
    package var hidesCookies = false

    /// The cache's view of a request, or nil when its response can be neither stored nor answered from the store.
    ///
    /// Only GET and HEAD without a body can, and only when they ask the origin for the canonical URL. A `Host` field that
    /// names another host asks for something else, and so does a URL that Foundation would send in another spelling.
    ///
    /// Requests with credentials in `Authorization` have a partition of their own for each value, so that the
    /// responses of one login never answer another.
    package init?(_ request: URLRequest, canonical url: String) {
        let name = request.httpMethod ?? "GET"
        guard name == "GET" || name == "HEAD", request.httpBodyStream == nil, request.httpBody?.isEmpty ?? true,
            let message = HTTPRequest(
                method: name == "GET" ? .get : .head,
                canonical: url,
                headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:])
            ),
            request.url?.isSent(as: url) ?? false
        else { return nil }
        if let host = request.value(forHTTPHeaderField: "Host"), !HostField.names(host, theHostOf: url) { return nil }
        self.message = message
        key = Self.key(of: request, canonical: url)
    }

    /// The key of what may answer a GET or HEAD.
    package static func key(of request: URLRequest, canonical url: String) -> RequestKey {
        let credentials = request.value(forHTTPHeaderField: "Authorization")
        return RequestKey(method: "GET", url: url, partition: credentials.map(Partition.name(for:)) ?? "")
    }

    /// The same in another part of the store, which keeps logins apart as well.
    package func within(_ part: String) -> CacheRequest {
        var request = self
        request.key = RequestKey(method: key.method, url: key.url, partition: part + key.partition)
        return request
    }

    /// The same for the whole representation, without range and conditions of the app's own.
    package var forWhole: CacheRequest {
        var request = self
        request.message.headerFields = HTTPFields(
            message.headerFields.filter { !Self.conditionalFields.contains($0.name) }
        )
        return request
    }

    /// Whether it asks for a whole representation, whatever the app holds already.
    ///
    /// With a range or a precondition it is a matter between the app and the server.
    package var asksForWhole: Bool {
        message.method == .get && !message.headerFields.contains { Self.conditionalFields.contains($0.name) }
    }

    package static let conditionalFields: Set<HTTPField.Name> = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]
}

extension HTTPRequest {
    /// A request for a canonical URL; nil when its scheme is not separated by `://`.
    package init?(method: Method, canonical url: String, headerFields: HTTPFields) {
        // Over bytes: searching by characters takes as long as the rest of a decision.
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let rest = url[url.utf8.index(colon, offsetBy: 3)...]
        let path = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        self.init(
            method: method,
            scheme: String(url[..<colon]),
            authority: String(rest[..<path]),
            path: path == rest.endIndex ? "/" : String(rest[path...]),
            headerFields: headerFields
        )
    }
}

/// The names of the parts of a store that belong to one login each.
enum Partition {
    /// A name that tells two credentials apart and reveals neither.
    static func name(for credentials: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let name = SHA256.hash(data: Data(credentials.utf8)).prefix(16).flatMap {
            [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
        }
        return String(decoding: name, as: UTF8.self)
    }
}
