import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Adds the cookies of a configuration's storage to requests, as its session does for the first request of a task.
///
/// The cookies are chosen for each request (RFC 6265 §5.4): after a redirect, the request still has the field that the
/// session chose for the task, and the redirect may have changed a cookie.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
struct CookieField: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    /// The request with the storage's cookies for its URL; the field remains as it is if the storage has none.
    func adding(to request: URLRequest) -> URLRequest {
        guard let storage, request.httpShouldHandleCookies, let url = request.url,
            let cookies = storage.cookies(for: url), !cookies.isEmpty,
            let field = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }
}
