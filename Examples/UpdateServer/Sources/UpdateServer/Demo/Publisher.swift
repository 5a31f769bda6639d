import Foundation
import FoundationNetworking
import WaystationPacks

extension PacksDemo {
    /// A person who publishes through the server's API.
    struct Publisher: Sendable {
        let server: URL
        let module: ModuleID
        let token: String

        func publish(_ zip: URL) async throws {
            try await post("publish", body: Data(contentsOf: zip))
        }

        func change(_ what: String) async throws {
            try await post(what, body: Data())
        }

        private func post(_ what: String, body: Data) async throws {
            var request = URLRequest(url: server.appending(path: "api/modules/\(module)/\(what)"))
            request.httpMethod = "POST"
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            request.timeoutInterval = 300
            let (answer, response) = try await URLSession.shared.upload(for: request, from: body)
            guard let status = (response as? HTTPURLResponse)?.statusCode, (200..<300).contains(status) else {
                throw Unexpected(description: "\(what): \(String(decoding: answer, as: UTF8.self))")
            }
        }
    }
}
