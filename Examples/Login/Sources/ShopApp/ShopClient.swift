import Foundation
import FoundationNetworking

/// The native half of the app: what its own code asks the shop for.
public struct ShopClient: Sendable {
    /// Who is logged in.
    public struct Profile: Decodable, Sendable {
        /// The name.
        public let name: String
    }

    let shop: URL
    let session: URLSession
    let patience: TimeInterval

    /// Who is logged in; has somebody log in where nobody is.
    public func profile() async throws -> Profile {
        let request = URLRequest(url: shop.appending(path: "api/profile"), timeoutInterval: patience)
        return try await session.json(Profile.self, for: request)
    }

    /// Has the shop forget the token that this carries, without the app's knowing.
    public func revoke() async throws {
        var request = URLRequest(url: shop.appending(path: "api/revoke"), timeoutInterval: patience)
        request.httpMethod = "POST"
        _ = try await session.answer(for: request)
    }
}

/// An answer that was not the one asked for.
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
