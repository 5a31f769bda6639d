import Foundation
import FoundationNetworking
import ShopServer
import Waystation

/// Signs a customer in at the shop.
struct SignIn: Sendable {
    private struct Form: Encodable {
        let name: String
        let password: String
    }

    private struct Granted: Decodable {
        let token: String
        let expiresIn: TimeInterval
    }

    /// The address of the shop's sign-in.
    let address: URL
    let customer: Customer

    /// Fetches a token.
    ///
    /// It uses a session of its own: a request that needs the login would wait for itself.
    func token() async throws -> LoginToken {
        var request = URLRequest(url: address)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(Form(name: customer.name, password: customer.password))
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (body, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw Unexpected("the shop refused the sign-in")
        }
        let granted = try JSONDecoder().decode(Granted.self, from: body)
        return LoginToken(granted.token, expires: Date().addingTimeInterval(granted.expiresIn))
    }
}
