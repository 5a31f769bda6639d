public import Foundation
import WaystationHTTP
public import WaystationStorage

/// An event of a source that is not part of this module, such as `PackEvent` of `WaystationPacks`.
///
/// Its description is one line for a log.
public protocol SourceEvent: Sendable, CustomStringConvertible {
    /// The source.
    var source: LoadEvent.Source { get }
    /// Whether the event reports a problem that needs attention.
    var isTrouble: Bool { get }
}

/// An event of a load, or of the cache behind it.
public struct LoadEvent: Sendable, CustomStringConvertible {
    /// The source of an answer.
    public struct Source: Hashable, Sendable, CustomStringConvertible {
        /// The source's name: `pack`, `files`, `cache`, `shared`, `network`, `foundation`, or the name of an
        /// ``AnswerSource`` of the app.
        public let description: String

        /// An installed pack.
        public static let pack = Source(description: "pack")
        /// An offline directory.
        public static let files = Source(description: "files")
        /// The response cache.
        public static let cache = Source(description: "cache")
        /// The tier that the response cache shares with other machines.
        public static let shared = Source(description: "shared")
        /// The network, through the interceptor's transport.
        public static let network = Source(description: "network")
        /// Foundation's own loader, to which the task was handed back.
        public static let foundation = Source(description: "foundation")

        static let builtIn = [pack, files, cache, shared, network, foundation]
    }

    /// The kind of the event.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// The request was answered with this status and number of body bytes.
        case served(from: Source, status: Int, bytes: Int)
        /// The task was handed back to Foundation's own loader, with the reason.
        case handedBack(reason: String)
        /// A response was stored in the cache.
        case stored(bytes: Int)
        /// The load failed.
        case failed(URLError)
        /// A rule blocked the request.
        case blocked
        /// The URL of the load or of a redirect was handed to the app's handler of external links.
        case openedElsewhere(URL)
        /// The load was cancelled before its end.
        case cancelled
        /// A problem with the cache or a file, without which loads continue, or a body that does not have the digest that its
        /// response states.
        case degraded(String)
        /// The cache did something of its own: eviction, clean-up, repair.
        case store(StoreEvent)
        /// The tier that the cache shares with other machines was left alone, returned damaged values, …
        case shared(TierEvent)
        /// An event of a source that another product brings: a pack was installed, activated, rolled back, found damaged, …
        case source(any SourceEvent)
        /// A login was requested, completed, ended by a log-out, …
        case login(LoginEvent)
        /// A storage of cookies was brought in step, did not answer, …
        case cookies(CookieEvent)
    }

    /// The kind of the event.
    public var kind: Kind
    /// The URL of the request as it is, with its secrets; nil for events that concern no single load.
    public var url: URL?
    /// The method of the request.
    public var method: String?
    /// The index of the rule that took the request.
    public var rule: Int?
    /// The time from `startLoading` to this event, in seconds.
    public var duration: TimeInterval?

    /// One line for a log, in which URLs have no secrets.
    public var description: String {
        let what =
            switch kind {
            case .served(let source, let status, let bytes): "served from \(source): \(status), \(bytes) bytes"
            case .handedBack(let reason): "handed back to Foundation: \(reason)"
            case .stored(let bytes): "stored \(bytes) bytes"
            case .failed(let error): "failed: \(error.localizedDescription.shown(upTo: 2_000))"
            case .blocked: "blocked"
            case .openedElsewhere(let link): "handed \(link.absoluteString.shown(upTo: 2_000)) to the app"
            case .cancelled: "cancelled"
            case .degraded(let message): "degraded: \(message.shown(upTo: 2_000))"
            case .store(let event): "cache \(event)"
            case .shared(let event): "shared tier \(event)"
            case .source(let event): "\(event.source) \(event)"
            case .login(let event): "login \(event)"
            case .cookies(let event): "cookies \(event)"
            }
        guard let url else { return SecretNames.standard.text(what) }
        let names = SecretNames.standard
        let shown = names.url(url.absoluteString).shown(upTo: 2_000)
        return "\((method ?? "GET").shown()) \(shown) \(names.text(what))"
    }
}

/// An event of a login.
///
/// It never contains a token.
public struct LoginEvent: Sendable, CustomStringConvertible {
    /// The kind of the event.
    ///
    /// More cases may come: a `switch` needs a default.
    public enum Kind: Sendable {
        /// The provider was called, once for all waiting requests.
        case asked(LoginReason)
        /// The provider returned a token, which is now in the cookies.
        case loggedIn(LoginReason)
        /// The provider failed, and so did all waiting requests.
        case failed(any Error)
        /// The provider returned no token within the time limit; all waiting requests have failed.
        case timedOut
        /// All waiting requests were cancelled before the provider returned a token.
        case abandoned
        /// The user logged out; this many loads, and renewals in the background, were ended.
        case loggedOut(endedLoads: Int)
    }

    /// The account of the login.
    public let account: String
    /// The kind of the event.
    public let kind: Kind

    /// Whether the event reports a problem that the app should know about.
    var isTrouble: Bool {
        switch kind {
        case .failed, .timedOut: true
        case .asked, .loggedIn, .abandoned, .loggedOut: false
        }
    }

    /// One line for a log.
    public var description: String {
        let what =
            switch kind {
            case .asked(let reason): "asked for \(reason)"
            case .loggedIn(let reason): "logged in by \(reason)"
            case .failed(let error): "failed: \("\(error)".shown(upTo: 2_000))"
            case .timedOut: "timed out"
            case .abandoned: "abandoned"
            case .loggedOut(let count): "logged out, \(count) loads ended"
            }
        return "\(account) \(what)"
    }
}

/// The reason for calling a provider.
public enum LoginReason: Hashable, Sendable, CustomStringConvertible {
    /// A request needs a login, and the user is not logged in.
    case signIn
    /// The server answered 401 to this token.
    case renewal(refused: LoginToken)

    /// The reason, without the token.
    public var description: String {
        switch self {
        case .signIn: "sign-in"
        case .renewal: "renewal"
        }
    }
}
