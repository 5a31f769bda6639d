public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Links that belong to other apps: telephone numbers, mail addresses, wallets, maps.
///
/// ```swift
/// $0.externalLinks = ExternalLinks(
///     schemes: ["tel", "mailto", "weixin"],
///     hosts: ["pay.example", "*.maps.example"],
///     handler: { app.open($0) }
/// )
/// ```
/// A data task for such a link loads nothing: ``handler`` gets its request, once, and the load ends with
/// `URLError.unsupportedURL` over a ``WaystationError`` with the code `openedElsewhere`. The same happens to a load
/// that a rule takes and that is redirected to such a link; the request is then the one that would have followed. The
/// delegate is not asked about that redirect, since nothing is requested.
///
/// This is checked before all rules, and also for requests that no rule matches. Schemes and hosts that are not named
/// are left to Foundation and its own errors; ``Schemes/allExceptHTTP`` names every scheme that leads out of the web.
/// Uploads and web sockets cannot be handed over: they fail with the code `linkNeedsDataTask`.
///
/// When links are named, the loads of rules use the interceptor's transport instead of Foundation's own loader, which
/// follows redirects by itself.
public struct ExternalLinks: Sendable {
    /// The schemes whose links are handed over.
    public let schemes: Schemes
    /// The hosts whose links are handed over, with any scheme and port: a host name, or `*.` and a name for all hosts
    /// below it.
    public let hosts: Set<String>
    /// The action that gets the request of a link.
    ///
    /// It is called before the end of the load is reported, and never on a queue of Foundation's. The end waits for its
    /// return, so long work should continue elsewhere.
    public let handler: @Sendable (URLRequest) -> Void

    /// The schemes that rules name, which ``Schemes/allExceptHTTP`` does not include.
    var schemesOfRules: Set<String> = []

    private let exactHosts: Set<String>
    private let parentHosts: Set<String>

    /// Makes links by scheme and by host.
    ///
    /// Values that are not schemes or hosts, and the schemes `http` and `https`, are refused when the interceptor is
    /// made.
    ///
    /// - Parameters:
    ///   - schemes: An array of schemes, such as `["tel", "mailto"]`, or `.allExceptHTTP`; none by default.
    ///   - hosts: The hosts; none by default.
    ///   - handler: The action that gets the request of a link; see ``handler``.
    public init(
        schemes: Schemes = [],
        hosts: Set<String> = [],
        handler: @escaping @Sendable (URLRequest) -> Void
    ) {
        self.schemes = schemes.lowercased
        self.hosts = hosts
        self.handler = handler
        exactHosts = Set(hosts.compactMap { $0.hasPrefix("*.") ? nil : Self.canonical($0) })
        parentHosts = Set(hosts.compactMap { $0.hasPrefix("*.") ? Self.canonical(String($0.dropFirst(2))) : nil })
    }

    /// Whether a URL is such a link.
    ///
    /// It is pure and quick, because it runs under a lock of the whole process.
    func contain(_ url: URL?) -> Bool {
        guard let url else { return false }
        if let scheme = url.scheme?.lowercased() {
            switch schemes {
            case .named(let names): if names.contains(scheme) { return true }
            case .allExceptHTTP:
                if !Schemes.notLinks.contains(scheme), !schemesOfRules.contains(scheme) { return true }
            }
        }
        guard !hosts.isEmpty, let canonical = CanonicalURL(url.absoluteString) else { return false }
        let host = String(canonical.host)
        if exactHosts.contains(host) { return true }
        guard !parentHosts.isEmpty else { return false }
        return host.indices.contains { host[$0] == "." && parentHosts.contains(String(host[$0...].dropFirst())) }
    }

    func check() throws(WaystationError) {
        for scheme in schemes.names {
            guard scheme.utf8.isScheme else {
                throw WaystationError(
                    .invalidLinks,
                    "\(scheme.quoted()) is not a URL scheme: write it without a colon, as \"tel\""
                )
            }
            guard scheme != "http", scheme != "https" else {
                throw WaystationError(
                    .invalidLinks,
                    "the scheme \(scheme) cannot be handed over: name its hosts instead"
                )
            }
        }
        for host in hosts where Self.canonical(host.hasPrefix("*.") ? String(host.dropFirst(2)) : host) == nil {
            throw WaystationError(
                .invalidLinks,
                "\(host.quoted()) is not a host: write \"pay.example\", or \"*.maps.example\" for all hosts below it"
            )
        }
    }

    private static func canonical(_ host: String) -> String? {
        host.contains("*") ? nil : CanonicalURL.host(host)
    }
}

extension ExternalLinks {
    /// The error of a load whose link was handed over.
    static func opened(_ url: URL?) -> URLError {
        let message = "\(url?.shown ?? "the link") was handed to the app's handler of external links"
        return URLError(
            .unsupportedURL,
            failing: url,
            message,
            underlying: WaystationError(.openedElsewhere, message)
        )
    }

    /// The error of a task whose link cannot be handed over.
    static func refused(_ task: URLSessionTask, _ url: URL?) -> URLError {
        let message = """
            \(url?.shown ?? "the link") belongs to another app, and a \(type(of: task)) cannot be handed to it: use \
            a data task
            """
        return URLError(
            .unsupportedURL,
            failing: url,
            message,
            underlying: WaystationError(.linkNeedsDataTask, message)
        )
    }
}

extension ExternalLinks {
    /// The schemes whose links belong to other apps.
    public enum Schemes: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// These schemes, written without a colon; letter case does not count.
        case named(Set<String>)

        /// Every scheme except `http` and `https`.
        ///
        /// It also does not include `ws` and `wss`, which only web socket tasks load; `data`, whose URLs contain their
        /// own content; and the schemes that a rule of the interceptor names, such as `app` by `app://*/**`.
        case allExceptHTTP

        /// These schemes.
        public init(arrayLiteral schemes: String...) { self = .named(Set(schemes)) }

        static let notLinks: Set<String> = ["http", "https", "ws", "wss", "data"]

        var names: Set<String> {
            switch self {
            case .named(let names): names
            case .allExceptHTTP: []
            }
        }

        var lowercased: Schemes {
            switch self {
            case .named(let names): .named(Set(names.map { $0.lowercased() }))
            case .allExceptHTTP: self
            }
        }
    }
}
