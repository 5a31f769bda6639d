public import Foundation
import FoundationNetworking
public import Waystation

/// An app that is half native and half pages, with one login for both.
public final class ShopApp: Sendable {
    /// The native half.
    public let client: ShopClient
    /// The pages.
    public let pages: PageLoader
    /// The cookies of both.
    public let cookies: CookieStore
    /// The login of both.
    public let login: LoginSession
    private let signIn: SignIn
    private let session: URLSession

    /// Makes the app of one account.
    ///
    /// - Parameters:
    ///   - shop: The server's address, an `http` URL of loopback with a port.
    ///   - account: The name of the account.
    ///   - cache: The cache of the pages; accounts may share one.
    ///   - patience: The longest time for a request, or for the whole sign-in, in seconds.
    ///   - now: The clock.
    ///   - openElsewhere: Opens a link that is for another app, such as a telephone number.
    ///   - form: Shows the sign-in form, and returns its contents.
    /// - Throws: `WaystationError` when the interceptor cannot be made.
    public init(
        shop: URL,
        account: String,
        cache: ResponseCache,
        patience: TimeInterval = 30,
        now: @escaping @Sendable () -> Date = { Date() },
        openElsewhere: @escaping @Sendable (URL) -> Void = { _ in },
        form: @escaping @Sendable () async throws -> Credentials
    ) throws {
        let signIn = SignIn(at: shop.appending(path: "api/login"), patience: patience, now: now, form: form)
        // The shop has neither TLS nor a host name, so loopback counts as secure, as it does in browsers.
        let cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: true), now: now)
        let login = LoginSession(
            account: account,
            cookie: .named("token", domain: "127.0.0.1", isHostOnly: true),
            timeout: .seconds(patience)
        ) { _ in try await signIn.token() }
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("\(shop)api/**", via: .network, requiresLogin: .always),
                .allow("\(shop)pages/**", via: .cache(.networkFirst()), requiresLogin: .marked),
            ]
            $0.externalLinks = ExternalLinks(schemes: ["tel"]) { request in request.url.map(openElsewhere) }
            $0.cache = cache
            $0.cookies = cookies
            $0.login = login
            $0.now = now
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        client = ShopClient(shop: shop, session: session, patience: patience)
        pages = PageLoader(shop: shop, session: session, patience: patience)
        (self.cookies, self.login, self.signIn, self.session) = (cookies, login, signIn, session)
    }

    /// Chooses how the pages look, by a cookie that the native half sets.
    ///
    /// - Throws: `CookieError` for a name that no cookie can hold.
    public func setTheme(_ name: String, at date: Date = Date()) throws {
        try cookies.insert(
            Cookie(name: "theme", value: name, domain: "127.0.0.1", isHostOnly: true, path: "/pages", creation: date)
        )
    }

    /// Logs out; returns when all data of the login is removed.
    public func logOut() async {
        await login.logOut()
        signIn.forget()
    }

    /// Closes the app when the loads under way are done; nothing can be loaded afterwards.
    public func close() {
        session.finishTasksAndInvalidate()
        signIn.close()
    }
}
