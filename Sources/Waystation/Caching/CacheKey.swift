import Foundation
import Synchronization
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The parts of a request that the keys of a rule's stored responses consist of.
///
/// Requests with the same key are answered by the same stored response.
///
/// The key of a request is its canonical URL with the whole query, within the part of the store that belongs to its
/// credentials. A rule changes that by ``Route/cache(_:key:tags:)``:
///
/// ```swift
/// $0.rules = [
///     .allow(
///         "https://shop.example/**",
///         via: .cache(.standard, key: .ignoring("utm_*", "fbclid").sortingQuery())
///     ),
///     .allow(
///         "https://api.example/**",
///         via: .cache(.standard, key: .own { $0.value(forHTTPHeaderField: "X-Tenant") })
///     ),
///     .allow("https://graph.example/**", via: .cache(.standard, key: .includingBody(of: ["POST"]))),
/// ]
/// ```
///
/// The request that is sent to the origin is not changed. Whatever the key is, responses of different credentials are
/// never shared, and `Vary` is obeyed.
public struct CacheKey: Sendable {
    /// The choices of a key that differs from the URL; nil for the URL alone, so that most look-ups have nothing to copy.
    private var changes: Changes?

    private final class Changes: Sendable {
        let query: QueryChoice
        let methods: Set<String>
        let own: (@Sendable (URLRequest) -> String?)?

        init(_ query: QueryChoice, _ methods: Set<String>, _ own: (@Sendable (URLRequest) -> String?)?) {
            (self.query, self.methods, self.own) = (query, methods, own)
        }
    }

    /// The canonical URL, with the body for `QUERY` (RFC 10008): the default.
    public static let url = CacheKey()

    /// The URL without some items of its query.
    ///
    /// - Parameter names: The names of the items, such as `fbclid`. A name that ends in `*` stands for all that begin with
    ///   the rest, such as `utm_*`; `*` alone leaves out the whole query. Names are compared as forms encode them.
    /// - Returns: The key.
    public static func ignoring(_ names: String...) -> CacheKey { url.ignoring(names) }

    /// The URL with the items of its query in the order of their names.
    ///
    /// - Returns: The key.
    public static func sortingQuery() -> CacheKey { url.sortingQuery() }

    /// The URL, and a text of the app's own.
    ///
    /// - Parameter key: Makes the text from a request as it would be sent, with its fields and cookies; nil for a request
    ///   whose key is the URL as usual. It runs for every load of the rule, on any thread and on the queue that all
    ///   sessions share: it must depend on the request alone, must be quick, and must not touch a `URLSession`.
    /// - Returns: The key.
    public static func own(_ key: @escaping @Sendable (_ request: URLRequest) -> String?) -> CacheKey { url.own(key) }

    /// The URL, and the body of requests with some methods.
    ///
    /// Responses to such requests are stored and reused like those to a `GET`; with `.standard`, a response to a `POST`
    /// only if it states a lifetime (RFC 9110 §9.3.3). The rule promises that these requests only ask for something: their
    /// responses invalidate nothing (RFC 9111 §4.4). A body in memory of up to 1 MiB counts, with `Content-Type`,
    /// `Content-Encoding` and `Content-Language`. Requests with a stream or a larger body are sent as usual.
    ///
    /// - Parameter methods: `POST`, `REPORT`, `SEARCH` or `PROPFIND`; another one is refused when the interceptor is made.
    ///   The body of a `QUERY` always counts.
    /// - Returns: The key.
    public static func includingBody(of methods: Set<String>) -> CacheKey { url.includingBody(of: methods) }

    /// The same key without some items of the query.
    ///
    /// - Parameter names: The names of the items; see the static method of the same name.
    /// - Returns: The key.
    public func ignoring(_ names: String...) -> CacheKey { ignoring(names) }

    /// The same key with the items of the query in the order of their names; those with the same name keep their order.
    ///
    /// - Returns: The key.
    public func sortingQuery() -> CacheKey {
        changed { query, _, _ in query.isSorted = true }
    }

    /// The same key with a text of the app's own, in place of an earlier one.
    ///
    /// - Parameter key: Makes the text from a request; see the static method of the same name.
    /// - Returns: The key.
    public func own(_ key: @escaping @Sendable (_ request: URLRequest) -> String?) -> CacheKey {
        changed { _, _, own in own = key }
    }

    /// The same key with the body of requests with some methods.
    ///
    /// - Parameter methods: The methods; see the static method of the same name.
    /// - Returns: The key.
    public func includingBody(of methods: Set<String>) -> CacheKey {
        changed { _, included, _ in included.formUnion(methods) }
    }

    package func ignoring(_ names: [String]) -> CacheKey {
        changed { query, _, _ in query.ignored += names }
    }

    private func changed(
        _ change: (inout QueryChoice, inout Set<String>, inout (@Sendable (URLRequest) -> String?)?) -> Void
    ) -> CacheKey {
        var (query, methods, own) = (changes?.query ?? QueryChoice(), changes?.methods ?? [], changes?.own)
        change(&query, &methods, &own)
        return CacheKey(changes: Changes(query, methods, own))
    }
}

extension CacheKey {
    /// The largest body that is part of a key, in bytes.
    package static let largestBody = 1 << 20

    /// The methods whose bodies may be part of a key: those of requests that can only ask for something.
    static let methodsWithBody: Set<String> = ["POST", "QUERY", "REPORT", "SEARCH", "PROPFIND"]

    /// Whether the key is that of a rule without any choice.
    var isURL: Bool { changes == nil }

    /// The items of the query that the key leaves out, and whether it sorts the others.
    package var query: QueryChoice { changes?.query ?? QueryChoice() }

    /// The methods whose bodies are part of the key, beside `QUERY`.
    var methods: Set<String> { changes?.methods ?? [] }

    /// Whether the body of a request with a method is part of its key.
    package func includesBody(of method: String) -> Bool {
        // Nearly all requests end here.
        guard method != "GET" else { return false }
        return method == "QUERY" || changes?.methods.contains(method) ?? false
    }

    /// The URL of the key of a request, with a fragment for what the rule adds.
    ///
    /// A canonical URL has no fragment, and the text of the app has only unreserved characters here, so two different
    /// requests have the same text only if the rule says that they are the same.
    func url(for request: URLRequest, _ canonical: CanonicalURL, method: String) -> String {
        let url = canonical.withoutUserInfo
        let includesBody = includesBody(of: method)
        guard changes != nil || includesBody else { return url }
        var additions: [String] = []
        if let own = changes?.own?(request) {
            additions.append("key=" + String(decoding: own.utf8.percentEncoded, as: UTF8.self))
        }
        if includesBody { additions.append("body=" + Self.digest(of: request)) }
        let chosen = changes?.query.applied(to: url) ?? url
        return additions.isEmpty ? chosen : "\(chosen)#\(additions.joined(separator: "&"))"
    }

    /// A digest of a request's content and of what describes it (RFC 10008 §2.7).
    private static func digest(of request: URLRequest) -> String {
        let body = request.httpBody ?? Data()
        // The response to such a request is neither stored nor looked up.
        guard body.count <= largestBody else { return "" }
        var digest = MessageDigest()
        for name in ["Content-Type", "Content-Encoding", "Content-Language"] {
            // No value of a field contains a line break, so no two lists are the same bytes.
            digest.update(Array("\(name): \(request.value(forHTTPHeaderField: name)?.trimmingSpace() ?? "")\n".utf8))
        }
        digest.update(body)
        return digest.bytes.hexadecimal
    }
}

extension CacheKey: CustomStringConvertible {
    /// The key as it is written in code; the function of an app is not shown.
    public var description: String {
        guard let changes else { return "url" }
        var words: [String] = []
        if !changes.query.ignored.isEmpty {
            words.append("ignoring(\(changes.query.ignored.map { $0.quoted() }.joined(separator: ", ")))")
        }
        if changes.query.isSorted { words.append("sortingQuery()") }
        if changes.own != nil { words.append("own") }
        if !changes.methods.isEmpty {
            words.append("includingBody(of: \(changes.methods.sorted()))")
        }
        return words.joined(separator: ".")
    }
}

/// The URLs of the keys under which the responses of a URL may be stored.
///
/// A removal or an invalidation names a URL as requests have it. A rule may have stored its response under the URL without
/// a part of the query, so that URL is removed too. The choices are those of the rules of all interceptors that have used
/// the cache in this process. A fragment needs no entry here: the store removes a URL with all its fragments.
final class KeyedURLs: Sendable {
    private let choices = Mutex<Set<QueryChoice>>([])

    /// Adds the choices of an interceptor's rules.
    func add(_ new: Set<QueryChoice>) { choices.withLock { $0.formUnion(new) } }

    /// A URL, and the URLs of keys that its responses may have, each once.
    func all(of url: String) -> [String] {
        choices.withLock(\.self).reduce(into: [url]) { urls, choice in
            let keyed = choice.applied(to: url)
            if !urls.contains(keyed) { urls.append(keyed) }
        }
    }
}
