import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

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
            .filter { $0.name.utf8.count + $0.value.utf8.count <= Self.maximumLength }
        if !cookies.isEmpty { storage.setCookies(cookies, for: url, mainDocumentURL: nil) }
    }

    private static let field = "Set-Cookie"
    /// The largest cookie that is kept, with its name; larger ones are ignored (RFC 6265bis §5.6).
    ///
    /// Foundation's storage has no limit, so one response could make each later request as large as its own head.
    private static let maximumLength = 4096
}
