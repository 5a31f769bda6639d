import HTTPTypes
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// A source of answers, such as the pages in an app's database.
///
/// The files of a directory, the installed packs and the response cache are sources; an app brings its own by
/// ``Route/source(_:orElse:)``:
///
/// ```swift
/// struct PagesOfApp: AnswerSource {
///     let pages: [String: Data]
///     let name = "pages"
///
///     func answer(to request: SourceRequest) -> SourceAnswer {
///         guard request.method == "GET", let page = pages[request.url.path] else { return .declined }
///         return .response(headerFields: ["Content-Type": "text/html; charset=utf-8"], body: page)
///     }
/// }
/// ```
/// The sources of a rule are asked in their order, until one of them does not decline. Data tasks and downloads get the
/// answers of an app's source, and so do the clients of a gateway; uploads and web sockets do not.
public protocol AnswerSource: Sendable {
    /// The name of the source in events, in the `Cache-Status` of its answers (RFC 9211) and in messages: a few letters,
    /// such as `pages`.
    ///
    /// It never changes. A name that is no token (RFC 9110 §5.6.2), and the names of Waystation's own sources
    /// (``LoadEvent/Source``), are refused when the interceptor is made.
    var name: String { get }

    /// Answers a request, declines it, or returns what must be done to find that out.
    ///
    /// It may be called on any thread, by several at a time, and on the queue that all sessions of the process share: it
    /// must not wait and must not read a file. ``SourceAnswer/later(_:)`` is for both. It may be called several times
    /// about one request, for example when the token of a login was renewed, and without a load, by
    /// ``Interceptor/explain(_:)-(URLRequest)``.
    func answer(to request: SourceRequest) -> SourceAnswer
}

/// A request as a source gets it.
public struct SourceRequest: Sendable {
    /// The request, with the fields of its session and the cookies that are sent with it.
    ///
    /// A body that is a stream can be read only once, and not by a source.
    public let request: URLRequest
    let canonical: CanonicalRequest
    /// The login under which the request got its cookies.
    let ticket: LoginTicket?
    /// The strategy of the cache in place of that of the rule; nil for the rule's own.
    let strategy: CacheStrategy?
    let environment: SourceEnvironment

    init(
        _ request: URLRequest,
        _ canonical: CanonicalRequest,
        _ ticket: LoginTicket?,
        _ strategy: CacheStrategy?,
        _ environment: SourceEnvironment
    ) {
        self.request = request
        self.canonical = canonical
        self.ticket = ticket
        self.strategy = strategy
        self.environment = environment
    }

    /// The URL in canonical form, in which rules match it: with the host in lower case, without `.` and `..` in the path.
    public var url: URL { URL(string: canonical.url.string) ?? request.url ?? URL(filePath: "/") }

    /// The method, such as `GET`.
    public var method: String { canonical.method }
}

/// The answer of a source to a request.
public struct SourceAnswer: Sendable {
    fileprivate enum Form: Sendable {
        case verdict(Verdict)
        case response(status: Int, fields: [String: String], body: Data)
        case later(@Sendable () async throws -> SourceAnswer)
    }

    fileprivate let form: Form

    init(_ verdict: Verdict) { form = .verdict(verdict) }

    private init(_ form: Form) { self.form = form }

    /// The source has no answer: the next source of the rule is asked.
    public static let declined = SourceAnswer(.declined)

    /// A response.
    ///
    /// It is not stored in the cache, and its cookies are not stored either. A redirect is followed by the rules, like any
    /// other. The body is left out for HEAD, and for the statuses 204 and 304 (RFC 9110 §6.4.1).
    ///
    /// - Parameters:
    ///   - status: The status, from 200 to 599. With another one the load continues with the next source.
    ///   - headerFields: The fields, by name. `Content-Length` is added. With a name or a value that is not valid
    ///     (RFC 9110 §5), the load continues with the next source.
    ///   - body: The body, without codings.
    /// - Returns: The answer.
    public static func response(
        status: Int = 200,
        headerFields: [String: String] = [:],
        body: Data = Data()
    ) -> SourceAnswer {
        SourceAnswer(.response(status: status, fields: headerFields, body: body))
    }

    /// An answer that must be looked for first, such as in a file or a database.
    ///
    /// - Parameter look: Looks for the answer, in a task of its own, which is cancelled when the load is. If it throws,
    ///   an event with ``LoadEvent/Kind/degraded(_:)`` says why, and the load continues with the next source.
    /// - Returns: The answer.
    public static func later(_ look: @escaping @Sendable () async throws -> SourceAnswer) -> SourceAnswer {
        SourceAnswer(.later(look))
    }
}

extension SourceRequest {
    /// The verdict of the first source that does not decline.
    func verdict(of sources: ArraySlice<any AnswerSource>) -> Verdict {
        guard let source = sources.first else {
            let message = "no source of its rule has \(canonical.url.string.shownURL), and the rule names no other"
            return .fail(refusal(.notFound, message))
        }
        return verdict(on: source.answer(to: self), of: source, orElse: sources.dropFirst())
    }

    private func verdict(
        on answer: SourceAnswer,
        of source: any AnswerSource,
        orElse rest: ArraySlice<any AnswerSource>
    ) -> Verdict {
        switch answer.form {
        case .verdict(.declined): return verdict(of: rest)
        case .verdict(.lookUp(let lookUp)):
            return .lookUp(lookUp.map { verdict(on: SourceAnswer($0), of: source, orElse: rest) })
        case .verdict(let verdict): return verdict
        case .response(let status, let fields, let body):
            do {
                return .answer(try self.answer(status, fields, body, of: source))
            } catch {
                return skip(source, because: error, orElse: rest)
            }
        case .later(let look):
            return .lookUp(
                LookUp(isForeign: true) { completion in
                    let looking = Task {
                        let found: Result<SourceAnswer, any Error>
                        do { found = .success(try await look()) } catch { found = .failure(error) }
                        // The load of a task that was cancelled is over.
                        guard !Task.isCancelled else { return completion(.declined) }
                        switch found {
                        case .success(let answer): completion(verdict(on: answer, of: source, orElse: rest))
                        case .failure(let error): completion(skip(source, because: error, orElse: rest))
                        }
                    }
                    return { looking.cancel() }
                }
            )
        }
    }

    /// Continues with the next source, because this one has failed.
    private func skip(
        _ source: any AnswerSource,
        because error: any Error,
        orElse rest: ArraySlice<any AnswerSource>
    ) -> Verdict {
        let message = "the source \(source.name) has failed: \(error)"
        environment.events.emit(LoadEvent(kind: .degraded(message), url: request.url))
        return verdict(of: rest)
    }

    /// The answer of an app's source.
    private func answer(
        _ status: Int,
        _ fields: [String: String],
        _ body: Data,
        of source: any AnswerSource
    ) throws -> Answer {
        guard (200..<600).contains(status) else {
            throw InvalidAnswer("the status \(status) is not from 200 to 599")
        }
        var made: [String: String] = [:]
        for (name, value) in fields {
            guard HTTPField.Name(name) != nil, HTTPField.isValidValue(value) else {
                throw InvalidAnswer(
                    "HTTP does not allow the name or the value of its field \(name.quoted()) (RFC 9110 §5)"
                )
            }
            if !["content-length", "cache-status"].contains(name.lowercased()) { made[name] = value }
        }
        let hasBody = status != 204 && status != 304
        if hasBody { made["Content-Length"] = "\(body.count)" }
        made[CacheStatus.field] = CacheStatus(.hit, detail: source.name).fieldValue
        guard let url = request.url else { throw InvalidAnswer("the request has no URL") }
        return Answer(
            head: ResponseHead(url: url, statusCode: status, fields: made),
            body: .data(hasBody && method != "HEAD" ? body : Data()),
            source: LoadEvent.Source(description: source.name),
            isForeign: true
        )
    }

    func refusal(_ code: WaystationError.Code, _ message: String) -> URLError {
        URLError(.resourceUnavailable, failing: request.url, message, underlying: WaystationError(code, message))
    }
}

/// The reason why an answer of an app's source is not used.
private struct InvalidAnswer: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The values that the sources of all rules share.
final class SourceEnvironment: Sendable {
    /// The fetches on behalf of the cache; nil without a cache.
    let fetches: Fetches?
    let events: EventBroadcaster
    /// The login whose responses have a part of the store of their own.
    private let login: LoginSession?
    /// How body streams are stored so that they can be sent again; nil to send them once.
    let bodySpool: BodySpool?
    /// Whether the app's own transport gets every load; Foundation's loader would bypass it.
    let hasOwnTransport: Bool
    /// Whether no load may be left to Foundation's own loader.
    ///
    /// The loader would choose the cookies itself, and follow redirects without asking the rules and without noticing
    /// the links that belong to other apps.
    let forwardsAll: Bool

    init(
        fetches: Fetches?,
        events: EventBroadcaster,
        login: LoginSession?,
        bodySpool: BodySpool?,
        hasOwnTransport: Bool,
        forwardsAll: Bool
    ) {
        self.fetches = fetches
        self.events = events
        self.login = login
        self.bodySpool = bodySpool
        self.hasOwnTransport = hasOwnTransport
        self.forwardsAll = forwardsAll
    }

    /// The same sources, for the clients of a server, each of which has credentials of its own.
    var forSeveralUsers: SourceEnvironment {
        SourceEnvironment(
            fetches: fetches.map { Fetches($0.cache.forSeveralUsers) },
            events: events,
            login: login,
            bodySpool: bodySpool,
            hasOwnTransport: hasOwnTransport,
            forwardsAll: forwardsAll
        )
    }

    /// The key under which a response to a request is looked up, in the part of the store that belongs to its login.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - canonical: Its canonical form.
    ///   - rule: The key that its rule chooses.
    ///   - method: The method in place of that of the request, for the key of a later GET.
    /// - Returns: The key.
    func cacheKey(
        _ request: URLRequest,
        _ canonical: CanonicalRequest,
        by rule: CacheKey,
        as method: String? = nil
    ) -> RequestKey {
        let key = CacheRequest.key(
            of: request,
            canonical: canonical.url,
            method: method ?? canonical.method,
            by: rule
        )
        guard let part = login?.partition(of: request), !part.isEmpty else { return key }
        return RequestKey(method: key.method, url: key.url, partition: part + key.partition)
    }

    /// A receiver that stores the response to a POST before it passes it on; nil if the request is no POST, or if the
    /// strategy of its rule stores no such response.
    func storing(after hop: Hop, for receiver: any TransportReceiver) -> (any TransportReceiver)? {
        guard hop.request.httpMethod == "POST", let cache = fetches?.cache, let match = hop.match,
            let strategy = hop.strategy ?? match.rule.strategy, strategy.obeysHTTP,
            CacheRequest.asksForCanonicalURL(hop.request, match.canonical.url),
            let message = HTTPRequest(hop.request, canonical: match.canonical)
        else { return nil }
        let key = cacheKey(hop.request, match.canonical, by: match.rule.key, as: "GET")
        return PostedResponse(to: message, under: key, by: strategy, match.rule.tags, in: cache, for: receiver)
    }

    /// The cache's view of a request, in the part of the store that belongs to its login.
    func cacheRequest(
        _ request: URLRequest,
        _ canonical: CanonicalRequest,
        by rule: CacheKey = .url,
        under key: RequestKey? = nil
    ) -> CacheRequest? {
        CacheRequest(
            request,
            canonical: canonical.url,
            by: rule,
            under: key ?? cacheKey(request, canonical, by: rule)
        )
    }
}
