package import WaystationFoundation
import WaystationHTTP

/// Whether and how a redirect is followed (RFC 9110 §15.4).
package enum RedirectDecision: Equatable, Sendable {
    /// The response is not a redirect, or has no target: it is the answer.
    case none
    /// Send this request next.
    case follow(URLRequest)
    /// The limit of redirects is reached: the load fails with `URLError.httpTooManyRedirects`.
    case tooMany
    /// The target cannot be loaded over HTTP: the load fails with `URLError.unsupportedURL`.
    case unsupported
}

/// The rules for following redirects, as a function of values.
package enum RedirectPolicy {
    /// The same number of redirects that Foundation itself follows.
    package static let limit = 20

    /// The status codes of redirects that are followed.
    package static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// Decides how `response` is handled.
    ///
    /// Method and body are kept on 307 and 308; 303 becomes GET (HEAD stays HEAD), as does a POST on 301 and 302. When
    /// the target is of another origin, `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` are removed,
    /// because they were meant for the first one. A fragment is inherited (RFC 9110 §10.2.2).
    ///
    /// - Parameters:
    ///   - response: The final head that arrived.
    ///   - request: The request that it answers.
    ///   - count: The number of redirects that were already followed.
    /// - Returns: The decision.
    package static func decision(
        for response: ResponseHead,
        to request: URLRequest,
        after count: Int
    ) -> RedirectDecision {
        guard statuses.contains(response.statusCode),
            let current = request.url,
            let target = target(of: response, to: request)
        else { return .none }
        guard count < limit else { return .tooMany }
        guard target.isHTTP else { return .unsupported }
        var next = request
        next.url = inheritingFragment(of: current, target)
        let method = request.httpMethod ?? "GET"
        switch response.statusCode {
        case 303 where method != "HEAD", 301 where method == "POST", 302 where method == "POST":
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        default:
            break
        }
        if !current.hasSameOrigin(as: target) {
            for name in CredentialFields.names + ["Host"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return .follow(next)
    }

    /// The target of a redirect, whatever its scheme (RFC 9110 §10.2.2).
    ///
    /// A relative reference is resolved against the canonical URL, to which the request was sent. `http` and `https`
    /// are returned in lower case, because Foundation recognises no other spelling of them.
    package static func target(of response: ResponseHead, to request: URLRequest) -> URL? {
        guard let location = response.rawValue(forHTTPHeaderField: "Location").map(FieldText.percentEncoded),
            let target = URL(string: location, relativeTo: request.url?.canonical ?? request.url)?.absoluteURL
        else { return nil }
        guard let scheme = target.scheme, case let lowered = scheme.lowercased(), lowered != scheme,
            ["http", "https"].contains(lowered)
        else { return target }
        return URL(string: lowered + target.absoluteString.dropFirst(scheme.count)) ?? target
    }

    /// The error of a load that was redirected too often.
    package static func tooMany(_ request: URLRequest) -> URLError {
        let host = request.url?.host.map { ", the last time by \($0.shown())" } ?? ""
        return URLError(
            .httpTooManyRedirects,
            failing: request.url,
            "the load was redirected more than \(limit) times\(host): the server's redirects may form a circle"
        )
    }

    /// The error of a load whose redirect leads to a URL that cannot be loaded.
    ///
    /// - Parameters:
    ///   - target: The URL; nil if it is not known. Only its scheme is shown, because other parts may be secret.
    ///   - request: The request that was redirected.
    /// - Returns: The error.
    package static func unsupported(_ target: URL?, after request: URLRequest) -> URLError {
        let kind =
            switch target?.scheme {
            case "http", "https": "without a host"
            case let scheme?: "with the scheme \"\(scheme.shown())\""
            case nil: "without a scheme"
            }
        return URLError(
            .unsupportedURL,
            failing: request.url,
            "the server redirects to a URL \(kind), which cannot be loaded: only http and https URLs with a host can"
        )
    }

    private static func inheritingFragment(of current: URL, _ target: URL) -> URL {
        guard target.fragment == nil, let fragment = current.fragment,
            var components = URLComponents(url: target, resolvingAgainstBaseURL: false)
        else { return target }
        components.percentEncodedFragment =
            URLComponents(url: current, resolvingAgainstBaseURL: false)?
            .percentEncodedFragment ?? fragment
        return components.url ?? target
    }
}
