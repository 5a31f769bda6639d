import Foundation
package import FoundationNetworking

/// Stores the cookies that responses set in the cookie storage of a configuration, as its session would.
///
/// The session would search every line of every head for them, which takes a tenth of the time of a load; this type
/// reads only `Set-Cookie`.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
package struct SetCookies: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    package init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
    }

    /// Stores the cookies of a head, including those of redirects and refusals.
    package func take(_ head: ResponseHead) {
        guard let storage, let url = head.url, let value = head.value(forHTTPHeaderField: Self.field) else { return }
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: [Self.field: value], for: url)
        if !cookies.isEmpty { storage.setCookies(cookies, for: url, mainDocumentURL: nil) }
    }

    private static let field = "Set-Cookie"
}
