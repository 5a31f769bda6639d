import Foundation
import FoundationNetworking

/// Takes the cookies that responses set into the storage of a configuration, as its session would.
///
/// The session would look for them in every line of every head, which costs a tenth of a load; this looks at
/// `Set-Cookie` alone.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not say so.
struct SetCookies: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
    }

    /// Takes those of a head, redirects and refusals included.
    func take(_ head: HTTPURLResponse) {
        guard let storage, let url = head.url, let value = head.value(forHTTPHeaderField: Self.field) else { return }
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: [Self.field: value], for: url)
        if !cookies.isEmpty { storage.setCookies(cookies, for: url, mainDocumentURL: nil) }
    }

    private static let field = "Set-Cookie"
}
