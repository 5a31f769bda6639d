import Foundation
import Hummingbird

/// The API for the app's own code, in JSON.
struct ShopAPI: Sendable {
    private struct SignIn: Decodable {
        let name: String
        let password: String
    }

    private struct Granted: ResponseEncodable {
        let token: String
        let expiresIn: TimeInterval
    }

    private struct Profile: ResponseEncodable {
        let name: String
    }

    let shop: Shop

    func addRoutes(to router: some RouterMethods<some RequestContext>) {
        let api = router.group("/api")
        api.post("/login") { request, context in
            let form = try await request.decode(as: SignIn.self, context: context)
            guard let token = shop.token(for: form.name, password: form.password) else {
                // Not 401: that would ask for a token, and this request fetches one.
                throw HTTPError(.forbidden, message: "no customer has that name and password")
            }
            return Granted(token: token, expiresIn: Shop.tokenLifetime)
        }
        api.get("/profile") { request, _ in
            guard let customer = shop.customer(of: request) else { throw HTTPError.signInFirst }
            return Profile(name: customer.name)
        }
        api.post("/revoke") { request, _ -> HTTPResponse.Status in
            guard shop.customer(of: request) != nil else { throw HTTPError.signInFirst }
            shop.revokeToken(of: request)
            return .noContent
        }
    }
}

extension HTTPError {
    /// A 401 with the challenge that RFC 9110 §15.5.2 requires.
    static var signInFirst: HTTPError {
        HTTPError(.unauthorized, headers: [.wwwAuthenticate: #"Bearer realm="shop""#], message: "sign in first")
    }
}
