public import HTTPTypes
import Synchronization

/// The directives of a response's `Cache-Control` field (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// Several lines count as one list. If a directive occurs more than once, the first one with a number counts (RFC 9111
/// §4.2.1). Numbers may be quoted; numbers above 2^31 count as 2^31. A directive that restricts use counts even when
/// its argument is malformed; one that permits use counts only when it is well formed. So `max-age=abc` means an age of
/// zero, and `stale-if-error=abc` is ignored.
///
/// `CDN-Cache-Control` and other targeted fields (RFC 9213) are for caches whose target list names them. A private
/// cache has no such target list, so only `Cache-Control` is read.
public struct CacheControl: Hashable, Sendable {
    /// How much of a response a directive with optional field names applies to.
    public enum Scope: Hashable, Sendable {
        /// The directive is absent.
        case nothing
        /// The qualified form: the directive applies to these fields.
        case fields([HTTPField.Name])
        /// The unqualified form: the directive applies to the whole response.
        case response
    }

    /// `max-age` (§5.2.2.1): the age up to which the response is fresh.
    public private(set) var maxAge: Duration?
    /// `s-maxage` (§5.2.2.10): for shared caches; a private one ignores it.
    public private(set) var sharedMaxAge: Duration?
    /// `no-cache` (§5.2.2.4): the part of the response that may not be used again without validation.
    public private(set) var noCache: Scope = .nothing
    /// `private` (§5.2.2.7): the part of the response that shared caches may not store.
    public private(set) var `private`: Scope = .nothing
    /// `no-store` (§5.2.2.5): no part of the response may be stored.
    public private(set) var noStore = false
    /// `public` (§5.2.2.9): the response may be stored whatever its status code.
    public private(set) var isPublic = false
    /// `must-revalidate` (§5.2.2.2): once stale, the response is never used again without validation.
    public private(set) var mustRevalidate = false
    /// `proxy-revalidate` (§5.2.2.8): the same for shared caches; a private one ignores it.
    public private(set) var proxyRevalidate = false
    /// `must-understand` (§5.2.2.3): store only if the status code is understood, and then despite `no-store`.
    public private(set) var mustUnderstand = false
    /// `no-transform` (§5.2.2.6): the content must not be transformed.
    public private(set) var noTransform = false
    /// `immutable` (RFC 8246): the content does not change while the response is fresh.
    public private(set) var immutable = false
    /// `stale-while-revalidate` (RFC 5861 §3): how long past its lifetime the response may be used while it is
    /// revalidated.
    public private(set) var staleWhileRevalidate: Duration?
    /// `stale-if-error` (RFC 5861 §4): how long past its lifetime the response may be used in place of an error.
    public private(set) var staleIfError: Duration?
    /// All other directives, kept and otherwise ignored (§5.2.3).
    public private(set) var extensions: [CacheDirective] = []

    /// Reads the directives of a response.
    public init(_ fields: HTTPFields) {
        for directive in CacheDirective.all(in: fields) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        let isPlain = directive.argument == nil
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.limit
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? directive.limit
        case "no-cache": noCache.widen(by: directive)
        case "private": `private`.widen(by: directive)
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "no-transform": noTransform = true
        case "public": isPublic = isPublic || isPlain
        case "must-understand": mustUnderstand = mustUnderstand || isPlain
        case "immutable": immutable = immutable || isPlain
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.allowance
        case "stale-if-error": staleIfError = staleIfError ?? directive.allowance
        default: extensions.append(directive)
        }
    }
}

extension CacheControl.Scope {
    /// The fields of the qualified form.
    var fieldNames: [HTTPField.Name] {
        if case .fields(let names) = self { names } else { [] }
    }

    /// Adds a directive: the unqualified form outweighs the qualified one, and an unreadable field list counts as the
    /// unqualified form.
    fileprivate mutating func widen(by directive: CacheDirective) {
        guard self != .response, let names = directive.fieldNames else {
            self = .response
            return
        }
        self = .fields(fieldNames + names)
    }
}

extension CacheDirective {
    /// The seconds of a directive that restricts use; zero when they cannot be read.
    var limit: Duration { seconds.map(Duration.init(wholeSeconds:)) ?? .zero }

    /// The seconds of a directive that permits use; nil when they cannot be read.
    var allowance: Duration? { seconds.map(Duration.init(wholeSeconds:)) }
}

/// The directives of a request's `Cache-Control` field (RFC 9111 §5.2.1, RFC 5861 §4).
///
/// Lines, repetitions, quotes, large numbers and malformed arguments are read as in ``CacheControl``. `Pragma:
/// no-cache` counts as `no-cache` if the request has no `Cache-Control` (§5.4).
public struct RequestCacheControl: Hashable, Sendable {
    /// How far past its lifetime a response may be.
    public enum MaxStale: Hashable, Sendable {
        /// `max-stale` without a number.
        case any
        /// `max-stale` with a number.
        case upTo(Duration)
    }

    /// `max-age` (§5.2.1.1): the greatest acceptable age.
    public private(set) var maxAge: Duration?
    /// `max-stale` (§5.2.1.2): how stale an acceptable response may be.
    public private(set) var maxStale: MaxStale?
    /// `min-fresh` (§5.2.1.3): how long the response must remain fresh.
    public private(set) var minFresh: Duration?
    /// `no-cache` (§5.2.1.4): no stored response is acceptable without validation.
    public private(set) var noCache = false
    /// `no-store` (§5.2.1.5): neither the request nor the response may be stored.
    public private(set) var noStore = false
    /// `no-transform` (§5.2.1.6): the content must not be transformed.
    public private(set) var noTransform = false
    /// `only-if-cached` (§5.2.1.7): only a stored response is acceptable.
    public private(set) var onlyIfCached = false
    /// `stale-if-error` (RFC 5861 §4): how long past its lifetime a response may be used in place of an error.
    public private(set) var staleIfError: Duration?
    /// All other directives, kept and otherwise ignored (§5.2.3).
    public private(set) var extensions: [CacheDirective] = []

    /// Whether the client restricts even fresh responses, so that it gets a stale one only if it explicitly allows
    /// that.
    public var wantsFresh: Bool { noCache || noStore || maxAge != nil || minFresh != nil }

    /// A request without directives.
    init() {}

    /// Reads the directives of a request.
    public init(_ fields: HTTPFields) {
        guard fields.contains(.cacheControl) else {
            guard let pragma = HTTPField.Name("Pragma"), fields.contains(pragma) else { return }
            noCache = CacheDirective.all(in: fields, of: pragma).contains { $0.name == "no-cache" }
            return
        }
        for directive in CacheDirective.all(in: fields) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.limit
        case "max-stale": maxStale = maxStale ?? directive.staleness
        case "min-fresh":
            // A number that cannot be read counts as the strictest restriction.
            minFresh = minFresh ?? directive.allowance ?? Duration(wholeSeconds: DeltaSeconds.greatest)
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "no-transform": noTransform = true
        case "only-if-cached": onlyIfCached = true
        case "stale-if-error": staleIfError = staleIfError ?? directive.allowance
        default: extensions.append(directive)
        }
    }
}

extension CacheDirective {
    fileprivate var staleness: RequestCacheControl.MaxStale? {
        argument == nil ? .any : allowance.map(RequestCacheControl.MaxStale.upTo)
    }
}

/// One directive of a `Cache-Control` field as it was received (RFC 9111 §5.2).
public struct CacheDirective: Hashable, Sendable {
    /// The name in lower case; names are compared case-insensitively.
    public let name: String
    /// The argument, unquoted, or nil when the directive has none.
    public let argument: String?
    /// Whether the argument follows the grammar: a token or a quoted string, with no space around the equals sign.
    public let isWellFormed: Bool

    /// All directives of all lines of a field, in their order; members whose name is not a token are left out.
    static func all(in fields: HTTPFields, of field: HTTPField.Name = .cacheControl) -> [CacheDirective] {
        var directives: [CacheDirective] = []
        for line in fields where line.name == field {
            var rest = Array(line.value.utf8)[...]
            while let directive = take(from: &rest) {
                if let directive = directive.valid { directives.append(directive) }
            }
        }
        return directives
    }

    private init(name: String, argument: String?, isWellFormed: Bool) {
        self.name = name
        self.argument = argument
        self.isWellFormed = isWellFormed
    }

    private struct Member {
        var valid: CacheDirective?
    }

    /// Takes one list member from the front; nil at the end.
    private static func take(from rest: inout ArraySlice<UInt8>) -> Member? {
        rest = rest.drop { $0.isSpace || $0 == UInt8(ascii: ",") }
        guard !rest.isEmpty else { return nil }
        let rawName = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        rest = rest[rawName.endIndex...]
        let trimmed = rawName.trimmingSpace()
        let isToken = trimmed.isToken
        let name = String(decoding: trimmed.map(\.lowercased), as: UTF8.self)
        guard rest.popFirst() == UInt8(ascii: "=") else {
            return Member(valid: isToken ? CacheDirective(name: name, argument: nil, isWellFormed: true) : nil)
        }
        let argument = takeArgument(from: &rest)
        guard isToken else { return Member(valid: nil) }
        let isWellFormed = argument.isWellFormed && trimmed.count == rawName.count
        return Member(valid: CacheDirective(name: name, argument: argument.text, isWellFormed: isWellFormed))
    }

    /// Takes the argument after the equals sign, up to the comma that ends the member.
    private static func takeArgument(from rest: inout ArraySlice<UInt8>) -> (text: String, isWellFormed: Bool) {
        if let text = rest.takeQuotedString() {
            let trailing = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[trailing.endIndex...]
            return (String(decoding: text, as: UTF8.self), trailing.allSatisfy(\.isSpace))
        }
        // An argument with an unclosed quotation mark ends at the comma, so that it does not swallow a restriction
        // after it.
        let member = rest.prefix { $0 != UInt8(ascii: ",") }
        rest = rest[member.endIndex...]
        var token = member
        while token.last?.isSpace == true { token.removeLast() }
        return (String(decoding: token, as: UTF8.self), token.isToken)
    }
}

extension CacheDirective {
    /// The argument as delta-seconds (RFC 9111 §1.2.2), in token or quoted form; nil when it is not a valid number.
    ///
    /// Values above 2^31 count as 2^31.
    var seconds: Double? {
        guard isWellFormed, let argument else { return nil }
        return DeltaSeconds.parse(argument)
    }

    /// The argument as a list of field names; nil when it is missing or empty, or when a member is not a field name.
    var fieldNames: [HTTPField.Name]? {
        guard isWellFormed, let argument else { return nil }
        var names: [HTTPField.Name] = []
        for member in argument.listMembers {
            guard let name = HTTPField.Name(member) else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : names
    }
}

/// Delta-seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The value that stands for larger values and overflows.
    static let greatest: Double = 2_147_483_648

    /// Parses text of decimal digits only; nil for any other text.
    static func parse(_ text: String) -> Double? {
        guard !text.isEmpty else { return nil }
        var value: Double = 0
        for byte in text.utf8 {
            guard let digit = byte.decimalDigit else { return nil }
            value = min(value * 10 + Double(digit), greatest)
        }
        return value
    }
}

extension Duration {
    /// Makes a duration of whole seconds, limited to ±2^31 and rounded down; NaN counts as 2^31.
    init(wholeSeconds seconds: Double) {
        let bounded =
            seconds.isNaN ? DeltaSeconds.greatest : min(max(seconds, -DeltaSeconds.greatest), DeltaSeconds.greatest)
        self = .seconds(Int64(bounded.rounded(.down)))
    }
}

extension HTTPFields {
    /// The fields without those that apply to the connection only or to a proxy (RFC 9111 §3.1), and without those that
    /// `Connection` lists.
    func withoutConnectionFields() -> HTTPFields {
        var excluded = ConnectionFields.all
        if let connection = self[.connection] { excluded.formUnion(ConnectionFields.named(by: [connection])) }
        guard contains(where: { excluded.contains($0.name.canonicalName) }) else { return self }
        return HTTPFields(filter { !excluded.contains($0.name.canonicalName) })
    }

    /// All lines of a field as one value; nil if the message has no such field.
    ///
    /// A single line is returned without a new string.
    func combined(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        guard self[(first + 1)...].contains(where: { $0.name == name }) else { return self[first].value }
        return self[name]
    }

    /// The first line of a field that should have only one.
    package func firstValue(_ name: HTTPField.Name) -> String? {
        first { $0.name == name }?.value
    }
}

/// Field names that were parsed before, so that the few common names are not parsed again for each message.
package enum KnownFieldNames {
    private static let known = Mutex<[String: HTTPField.Name]>([:])

    /// The name with this spelling; nil if it is not a valid name.
    package static func name(_ text: String) -> HTTPField.Name? {
        if let name = known.withLock({ $0[text] }) { return name }
        guard let name = HTTPField.Name(text) else { return nil }
        // Servers choose the names, so the table stops growing before it could take much memory.
        known.withLock { if $0.count < 512 { $0[text] = name } }
        return name
    }
}

extension HTTPRequest {
    /// The target URI as the request has it, without a fragment; nil when the scheme or the authority is missing.
    package var targetURI: String? {
        guard let scheme, let authority, !authority.isEmpty else { return nil }
        var path = path ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        return "\(scheme)://\(authority)\(path)"
    }
}

extension CanonicalURL {
    /// The URL that the value of a field such as `Location` stands for, relative to this URL.
    ///
    /// Nil if the value is no URL, or if the URL has another origin (RFC 9110 §4.3.1).
    func ofSameOrigin(_ field: String) -> CanonicalURL? {
        resolving(FieldText.percentEncoded(field)).flatMap { $0.origin == origin ? $0 : nil }
    }
}

extension HTTPDate {
    /// Reads a date as a cache does, case-insensitively (RFC 9111 §4.2).
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time, for two-digit years.
    package init?(cached text: String, now: HTTPDate) {
        self.init(text, now: now, ignoringCase: true)
    }

    /// Seconds since 1970, for calculations.
    var moment: Double { Double(secondsSinceEpoch) }
}
