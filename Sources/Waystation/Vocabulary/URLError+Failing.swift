package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// The message of the library's own error, if that is the cause.
    package var reason: String {
        (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.message ?? localizedDescription
    }

    /// Makes an error that names the URL in the same way as Foundation's own errors.
    package init(_ code: Code, failing url: URL?, _ message: String? = nil, underlying: (any Error)? = nil) {
        var info: [String: Any] = [:]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
        }
        if let message { info[NSLocalizedDescriptionKey] = message }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        self.init(_nsError: NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: info))
    }

    /// The error of a load whose response Foundation cannot make.
    static func invalidHead(of url: URL?) -> URLError {
        URLError(.badServerResponse, failing: url, "the head of the response is not valid")
    }
}
