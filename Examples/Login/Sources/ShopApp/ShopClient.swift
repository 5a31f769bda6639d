import Foundation
import FoundationNetworking

/// The native half of the app: the requests of its own code to the shop.
public struct ShopClient: Sendable {
    /// The profile of the person who is logged in.
    public struct Profile: Decodable, Sendable {
        /// The name.
        public let name: String
    }

    let shop: URL
    let session: URLSession
    let patience: TimeInterval

    /// The person who is logged in; starts a login if the app is logged out.
    public func profile() async throws -> Profile {
        let request = URLRequest(url: shop.appending(path: "api/profile"), timeoutInterval: patience)
        return try await session.json(Profile.self, for: request)
    }

    /// Makes the shop revoke the token that this request carries, without the app's noticing.
    public func revoke() async throws {
        var request = URLRequest(url: shop.appending(path: "api/revoke"), timeoutInterval: patience)
        request.httpMethod = "POST"
        _ = try await session.answer(for: request)
    }
}

/// An answer with a status that reports an error.
public struct RefusedByShop: Error, CustomStringConvertible {
    /// The status.
    public let status: Int

    /// One line.
    public var description: String { "the shop answered with \(status)" }
}

extension URLSession {
    func answer(for request: URLRequest) async throws -> Data {
        let (data, response) = try await data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else { throw RefusedByShop(status: status) }
        return data
    }

    func json<Answer: Decodable>(_ type: Answer.Type, for request: URLRequest) async throws -> Answer {
        try JSONDecoder().decode(type, from: try await answer(for: request))
    }
}
