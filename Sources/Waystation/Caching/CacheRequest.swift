package import HTTPTypes
package import WaystationFoundation
package import WaystationHTTP
import WaystationStorage

/// The cache's view of a request: the key under which a response is looked up, and the request as an HTTP message.
package struct CacheRequest: Sendable {
    /// Responses are stored under GET, and can also answer HEAD (RFC 9110 §9.3.2).
    ///
    /// Those to requests whose bodies are part
    /// of the key are stored under their own method.
    package private(set) var key: RequestKey
    /// The request as the caching rules see it.
    ///
    /// A request whose body is part of its key is a GET here: the same rules apply to it, and the key has the rest.
    package private(set) var message: HTTPRequest

    /// Makes the cache's view of a request, or nil when its response can be neither stored nor answered from the store.
    ///
    /// Only GET and HEAD without a body qualify, and requests whose bodies are part of their keys; and only when they ask
    /// the origin for the canonical URL. A request whose `Host` field names another host asks for something else, and so
    /// does a request for a URL that Foundation would send in another spelling.
    ///
    /// Requests with credentials in `Authorization` or in the URL have a separate partition for each value, so that the
    /// responses of one login never answer the requests of another.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - url: Its URL in canonical form.
    ///   - rule: The key that the request's rule chooses.
    package init?(_ request: URLRequest, canonical url: CanonicalURL, by rule: CacheKey = .url) {
        let method = request.httpMethod ?? "GET"
        self.init(
            request,
            canonical: url,
            by: rule,
            under: Self.key(of: request, canonical: url, method: method, by: rule)
        )
    }

    /// Makes the cache's view of a request whose key may be known already.
    init?(
        _ request: URLRequest,
        canonical url: CanonicalURL,
        by rule: CacheKey,
        under key: @autoclosure () -> RequestKey
    ) {
        guard Self.mayBeMade(of: request, canonical: url, by: rule) else { return nil }
        message = HTTPRequest(
            method: request.httpMethod == "HEAD" ? .head : .get,
            canonical: url,
            headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:])
        )
        self.key = key()
    }

    /// Whether the response to a request can be stored, or answered from the store.
    static func mayBeMade(of request: URLRequest, canonical url: CanonicalURL, by rule: CacheKey) -> Bool {
        let name = request.httpMethod ?? "GET"
        let length = request.httpBody?.count ?? 0
        let isKnown =
            name == "GET" || name == "HEAD"
            ? length == 0 : rule.includesBody(of: name) && length <= CacheKey.largestBody
        return isKnown && request.httpBodyStream == nil && asksForCanonicalURL(request, url)
    }

    /// Whether a request asks its origin for the canonical URL, and no other host.
    static func asksForCanonicalURL(_ request: URLRequest, _ url: CanonicalURL) -> Bool {
        guard request.url?.isSent(as: url.string) ?? false else { return false }
        return request.value(forHTTPHeaderField: "Host").map { HostField.names($0, theHostOf: url) } ?? true
    }

    /// The key under which the response to a request is looked up.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - url: Its URL in canonical form.
    ///   - method: Its method, or `GET`, the default, for the key of a later GET.
    ///   - rule: The key that its rule chooses; the URL by default.
    /// - Returns: The key.
    package static func key(
        of request: URLRequest,
        canonical url: CanonicalURL,
        method: String = "GET",
        by rule: CacheKey = .url
    ) -> RequestKey {
        var credentials = request.value(forHTTPHeaderField: "Authorization")
        // No field value contains a line break.
        if let userInfo = url.userInfo { credentials = "\(userInfo)\n\(credentials ?? "")" }
        return RequestKey(
            method: rule.includesBody(of: method) ? method : "GET",
            url: rule.url(for: request, url, method: method),
            partition: credentials.map(Partition.name(for:)) ?? ""
        )
    }

    /// Whether the origin answers a condition in the request with 304.
    ///
    /// That is so for GET, HEAD and QUERY (RFC 10008 §2.6); to another method it would answer 412 (RFC 9110 §13.1.2).
    var takesConditions: Bool { key.method == "GET" || key.method == "QUERY" }

    /// Whether a stored response can answer the request without the help of its server.
    package func mayBeAnswered(by head: StoredHead) -> Bool {
        head.isSelected(by: message.headerFields)
    }

    /// The request in another part of the store.
    ///
    /// The key keeps its own partition within that part, so logins stay separate.
    package func within(_ part: String) -> CacheRequest {
        var request = self
        request.key = RequestKey(method: key.method, url: key.url, partition: part + key.partition)
        return request
    }

    /// The request for bytes of the representation, in place of the app's own range.
    func asking(_ range: String, ifRange: String?) -> CacheRequest {
        var request = self
        request.message.headerFields[.range] = range
        request.message.headerFields[.ifRange] = ifRange
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

    /// Whether the request asks for a representation or bytes of it, whatever the app has already.
    ///
    /// A precondition concerns only the app and the server.
    package var isUnconditional: Bool {
        message.method == .get
            && !message.headerFields.contains {
                Self.conditionalFields.contains($0.name) && $0.name != .range && $0.name != .ifRange
            }
    }

    package static let conditionalFields: Set<HTTPField.Name> = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]
}

extension RequestKey {
    /// The key under which a response to a request with this key is stored: of one with `No-Vary-Search`, that of its rule.
    ///
    /// The look-ups of packs find only what is stored under their own keys.
    package func storing(_ fields: HTTPFields) -> RequestKey {
        guard !Overlay.contains(partition), let rule = NoVarySearch(fields) else { return self }
        return searched(by: rule)
    }
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

extension HTTPResponse {
    /// The head that Foundation delivered.
    package init(_ head: ResponseHead) {
        self.init(
            status: Status(code: min(max(head.statusCode, 0), 999)),
            headerFields: HTTPFields(head.rawFields)
        )
    }
}

extension HTTPResponse {
    /// The head as it is stored: for the decoded, whole representation.
    package init(storing head: ResponseHead) {
        self.init(
            status: Status(code: min(max(head.statusCode, 0), 999)),
            headerFields: StoredFields.normalized(head.rawFields)
        )
    }

    /// The head as the answer to a conditional request about a stored response.
    ///
    /// A decoded body is stored with a weak tag, but its origin confirms it with the strong tag of the coded bytes.
    /// This initializer turns such a strong tag into the weak tag that is stored, if the app lets coded bodies be stored;
    /// otherwise the origin itself has sent the weak tag, and a strong one does not confirm it (RFC 9111 §4.3.4).
    package init(validating head: ResponseHead, _ stored: [StoredHead], storesCodedBodies: Bool) {
        self.init(storing: head)
        if !head.isCoded {
            // The `Content-Length` of a HEAD response can show that the content has changed (RFC 9111 §4.3.5).
            headerFields[.contentLength] = head.value(forHTTPHeaderField: "Content-Length")
        }
        guard storesCodedBodies, let tag = headerFields.firstValue(.eTag), !tag.hasPrefix("W/"),
            stored.contains(where: { $0.headerFields.firstValue(.eTag) == "W/" + tag })
        else { return }
        headerFields[.eTag] = "W/" + tag
    }
}

extension HTTPRequest {
    /// The request, with any method.
    init?(_ request: URLRequest, canonical: CanonicalRequest) {
        guard let method = Method(canonical.method) else { return nil }
        self.init(
            method: method,
            canonical: canonical.url,
            headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:])
        )
    }
}

extension URLRequest {
    /// The request for the whole representation, without the app's own range and conditions.
    var forWhole: URLRequest {
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return self }
        var request = self
        for name in CacheRequest.conditionalFields { request.setValue(nil, forHTTPHeaderField: name.rawName) }
        return request
    }

    /// The request for bytes of the representation, in place of the app's own range.
    func asking(_ range: String, ifRange: String?) -> URLRequest {
        var request = self
        request.setValue(range, forHTTPHeaderField: "Range")
        request.setValue(ifRange, forHTTPHeaderField: "If-Range")
        return request
    }

    /// The request with the conditions of another request.
    package func taking(conditionsOf message: HTTPRequest) -> URLRequest {
        let conditions = [HTTPField.Name.ifNoneMatch, .ifModifiedSince]
        var fields = (allHTTPHeaderFields ?? [:]).filter { field in
            !conditions.contains {
                $0.rawName.equalsIgnoringCase(field.key)
            }
        }
        for name in conditions { fields[name.rawName] = message.headerFields.firstValue(name) }
        var request = self
        // Setting all fields at once takes a quarter of the time of setting two by their names.
        request.allHTTPHeaderFields = fields
        return request
    }
}

/// The header fields of a response as they are stored: of the decoded, whole representation.
///
/// Foundation decodes a body and leaves the fields as they arrived. Fields that described the transfer or the coded
/// bytes are no longer true for the stored body (RFC 9110 §8.4, §8.6, RFC 9111 §3.1).
package enum StoredFields {
    /// The fields to store, without `Content-Length`: the code that reads the stored response knows the length and adds
    /// it.
    package static func normalized(_ head: [String: String]) -> HTTPFields {
        let listed = connection(head).map { ConnectionFields.named(by: [$0]) } ?? []
        var fields = HTTPFields(head) {
            !hopByHop.contains($0.canonicalName) && !listed.contains($0.canonicalName)
        }
        // The first question by a name makes a table of all names.
        if fields.contains(where: { $0.name == .contentEncoding }),
            ContentCodings(fields[values: .contentEncoding]).areRemoved
        {
            fields[.contentEncoding] = nil
            // The strong validator of coded bytes is not valid for the decoded ones (RFC 9110 §8.8.3.3).
            if let tag = fields[.eTag], !tag.hasPrefix("W/") { fields[.eTag] = "W/" + tag }
        }
        return fields
    }

    private static func connection(_ head: [String: String]) -> String? {
        head["Connection"] ?? head.first { $0.key.equalsIgnoringCase("Connection") }?.value
    }

    /// Names in lower case; the tags of a stored response are the app's own, and not those that a server sends.
    private static let hopByHop = ConnectionFields.all.union([
        "trailer", "cache-status", "set-cookie", "set-cookie2", "content-length", LabelFields.tags,
        StoredHead.unconfirmedField,
    ])
}

extension HTTPFields {
    /// The fields of a Foundation dictionary.
    ///
    /// Names and values that are not valid HTTP are left out, so that a value cannot insert another header line. Fields
    /// that `isWanted` rejects are left out too.
    package init(_ dictionary: [String: String], where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        self.init()
        reserveCapacity(dictionary.count)
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            // White space around a value is not part of it (RFC 9110 §5.5).
            let value = value.trimmingSpace()
            guard let name = KnownFieldNames.name(name), isWanted(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }

    /// One value for each name, as in Foundation's dictionaries: the values of repeated fields are joined by commas.
    package var dictionary: [String: String] {
        var result: [String: String] = [:]
        for field in self {
            let name = field.name.rawName
            if let earlier = result[name] {
                result[name] = "\(earlier), \(field.value)"
            } else {
                result[name] = field.value
            }
        }
        return result
    }
}

extension CacheStatus {
    /// The field's name as Foundation spells it.
    static let field = "Cache-Status"

    /// The library's own member of the field.
    init(_ outcome: Outcome, timeToLive: Duration? = nil, key: String? = nil, detail: String? = nil) {
        self.init("Waystation", outcome, timeToLive: timeToLive, key: key, detail: detail)
    }
}

extension ResponseHead {
    /// The same response with one more member in its `Cache-Status`.
    func adding(_ status: CacheStatus) -> ResponseHead {
        let earlier = value(forHTTPHeaderField: CacheStatus.field).map { $0.isEmpty ? "" : $0 + ", " } ?? ""
        return setting(CacheStatus.field, to: earlier + status.fieldValue)
    }
}

extension ResponseHead {
    /// Whether the body arrived in a content coding, which the engine has decoded.
    package var isCoded: Bool {
        value(forHTTPHeaderField: "Content-Encoding").map { ContentCodings([$0]).areRemoved } ?? false
    }

    /// The number of bytes that the delivered body must have; nil when the fields do not state it.
    package var statedLength: Int? {
        guard !isCoded, case .bytes(let count) = ContentLength(value(forHTTPHeaderField: "Content-Length")) else {
            return nil
        }
        return count
    }

    /// Why the library cannot check that the body arrives complete.
    ///
    /// - Parameter storesCodedBodies: Whether the app trusts its servers not to cut bodies.
    /// - Returns: The reason not to store the response; nil when the end of the body is certain.
    package func doubt(storesCodedBodies: Bool) -> StoringRefusal? {
        let length = ContentLength(value(forHTTPHeaderField: "Content-Length"))
        let hasTransferCoding = value(forHTTPHeaderField: "Transfer-Encoding") != nil
        if length == .invalid || (length != .absent && hasTransferCoding) { return .uncertainLength }
        // In plain TCP, the end of the connection is the end of such a body (RFC 9112 §6.3); a 204 has none.
        if hidesCuts, length == .absent, !hasTransferCoding, !storesCodedBodies, statusCode != 204,
            url?.isHTTPS == true
        {
            return .uncertainLength
        }
        return isCoded && !storesCodedBodies ? .uncheckedCoding : nil
    }
}

extension StoringDecision {
    /// The detail of `Cache-Status` for a refusal that no other part of the response explains.
    var detail: String? {
        switch self {
        case .refuse(.uncertainLength): "uncertain-length"
        case .refuse(.uncheckedCoding): "content-coding"
        case .refuse, .store: nil
        }
    }
}

extension URLRequest {
    /// The request for a body without content coding, unless the app set `Accept-Encoding` itself.
    var withoutCodings: URLRequest {
        guard value(forHTTPHeaderField: Self.acceptedCodings) == nil else { return self }
        var request = self
        request.setValue("identity", forHTTPHeaderField: Self.acceptedCodings)
        return request
    }

    private static let acceptedCodings = "Accept-Encoding"
}
