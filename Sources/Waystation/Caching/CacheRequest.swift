package import HTTPTypes
package import WaystationCaching
import WaystationCryptography
import WaystationFields
package import WaystationFoundation
package import WaystationRules
import WaystationTransport

/// The cache's view of a request: the key under which a response is looked up, and the request as an HTTP message.
package struct CacheRequest: Sendable {
    /// Responses are stored under GET, and can also answer HEAD (RFC 9110 §9.3.2).
    package private(set) var key: RequestKey
    package private(set) var message: HTTPRequest

    /// Makes the cache's view of a request, or nil when its response can be neither stored nor answered from the store.
    ///
    /// Only GET and HEAD without a body qualify, and only when they ask the origin for the canonical URL. A request
    /// whose `Host` field names another host asks for something else, and so does a request for a URL that Foundation
    /// would send in another spelling.
    ///
    /// Requests with credentials in `Authorization` or in the URL have a separate partition for each value, so that the
    /// responses of one login never answer the requests of another.
    package init?(_ request: URLRequest, canonical url: CanonicalURL) {
        let name = request.httpMethod ?? "GET"
        guard name == "GET" || name == "HEAD", request.httpBodyStream == nil, request.httpBody?.isEmpty ?? true,
            request.url?.isSent(as: url.string) ?? false
        else { return nil }
        if let host = request.value(forHTTPHeaderField: "Host"), !HostField.names(host, theHostOf: url) { return nil }
        message = HTTPRequest(
            method: name == "GET" ? .get : .head,
            canonical: url,
            headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:])
        )
        key = Self.key(of: request, canonical: url)
    }

    /// The key under which the response to a GET or HEAD is looked up.
    package static func key(of request: URLRequest, canonical url: CanonicalURL) -> RequestKey {
        var credentials = request.value(forHTTPHeaderField: "Authorization")
        // No field value contains a line break.
        if let userInfo = url.userInfo { credentials = "\(userInfo)\n\(credentials ?? "")" }
        return RequestKey(
            method: "GET",
            url: url.withoutUserInfo,
            partition: credentials.map(Partition.name(for:)) ?? ""
        )
    }

    /// Whether a stored response can answer the request without the help of its server.
    package func mayBeAnswered(by head: StoredHead) -> Bool { head.vary.matches(message.headerFields) }

    /// The request in another part of the store.
    ///
    /// The key keeps its own partition within that part, so logins stay separate.
    package func within(_ part: String) -> CacheRequest {
        var request = self
        request.key = RequestKey(method: key.method, url: key.url, partition: part + key.partition)
        return request
    }

    /// The request for the whole representation, without the app's own range and conditions.
    package var forWhole: CacheRequest {
        var request = self
        request.message.headerFields = HTTPFields(
            message.headerFields.filter { !Self.conditionalFields.contains($0.name) }
        )
        return request
    }

    /// Whether the request asks for a whole representation, whatever the app has already.
    ///
    /// A range or a precondition concerns only the app and the server.
    package var asksForWhole: Bool {
        message.method == .get && !message.headerFields.contains { Self.conditionalFields.contains($0.name) }
    }

    package static let conditionalFields: Set<HTTPField.Name> = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]
}

extension HTTPRequest {
    /// Makes a request for a canonical URL.
    package init(method: Method, canonical url: CanonicalURL, headerFields: HTTPFields) {
        self.init(
            method: method,
            scheme: String(url.scheme),
            authority: String(url.authority),
            path: String(url.pathAndQuery),
            headerFields: headerFields
        )
    }
}

/// The names of the parts of a store that belong to one login each.
enum Partition {
    /// A name that distinguishes two credentials and reveals neither.
    static func name(for credentials: String) -> String {
        MessageDigest.of(Array(credentials.utf8)).prefix(16).hexadecimal
    }
}

/// The host that a request's `Host` field names (RFC 9110 §7.2).
enum HostField {
    /// Whether the field names the host and port of a canonical URL, however it is spelled.
    static func names(_ field: String, theHostOf target: CanonicalURL) -> Bool {
        guard let named = CanonicalURL("\(target.scheme)://\(field)/") else { return false }
        // A field with more than a host and a port does not name that host.
        return named.string == target.origin + "/"
    }
}
