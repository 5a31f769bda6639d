import Foundation
import FoundationNetworking

@main
struct App {
    static func main() async throws {
        let session = URLSession(configuration: .default)

        let address = CommandLine.arguments.dropFirst().first ?? "https://www.swift.org/"
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let start = ContinuousClock.now
        let (page, _) = try await session.data(from: url)
        print("\(page.count) bytes in \(ContinuousClock.now - start)")
    }
}
