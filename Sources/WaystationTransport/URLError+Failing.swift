import WaystationFields
package import WaystationFoundation

extension URLError {
    /// Makes an error that names the URL in the same way as Foundation's own errors, under both of its keys.
    ///
    /// - Parameters:
    ///   - code: The code that Foundation reports in the same situation.
    ///   - url: The URL that cannot be loaded; nil for none.
    ///   - message: The description, which says what happened: without one, Foundation says only that the operation could
    ///     not be completed.
    ///   - underlying: The cause.
    package init(_ code: Code, failing url: URL?, _ message: String, underlying: (any Error)? = nil) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
            info["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        self.init(_nsError: NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: info))
    }

    /// The error of a load whose delegate has cancelled a challenge.
    package static func cancelledChallenge(of url: URL?) -> URLError {
        let server = url?.host.map { " of the server \($0.shown())" } ?? ""
        return URLError(.cancelled, failing: url, "the delegate cancelled the challenge\(server) for credentials")
    }

    /// The error of an exchange that ended in order but without a response.
    package static func missingHead(of url: URL?) -> URLError {
        URLError(.badServerResponse, failing: url, "the exchange ended without a response: the transport sent no head")
    }

    /// The error of a load whose response Foundation cannot make.
    package static func invalidHead(of url: URL?) -> URLError {
        URLError(.badServerResponse, failing: url, "the head of the response is not valid")
    }
}
