#if NIO
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Adds the cookies of a configuration's storage to requests, as its session does for the first request of a task.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
struct CookieField: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    /// The request with the storage's cookies for its URL; a request that has the field already keeps it.
    func adding(to request: URLRequest) -> URLRequest {
        guard let storage, request.httpShouldHandleCookies, let url = request.url,
            request.value(forHTTPHeaderField: "Cookie") == nil,
            let cookies = storage.cookies(for: url), !cookies.isEmpty,
            let field = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }
}
#endif
