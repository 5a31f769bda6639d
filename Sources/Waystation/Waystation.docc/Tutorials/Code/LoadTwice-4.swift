import Foundation
import FoundationNetworking
import Waystation

@main
struct App {
    static func main() async throws {
        let interceptor = try Interceptor {
            $0.rules = [.allow("*://*:*/**", via: .cache(.cacheFirst(for: .days(7))))]
            $0.cache = try ResponseCache(directory: URL(filePath: "cache"))
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))

        let address = CommandLine.arguments.dropFirst().first ?? "https://www.swift.org/"
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let start = ContinuousClock.now
        let (page, response) = try await session.data(from: url)  // plain Foundation from here on
        let cacheStatus = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? "none"
        print("\(page.count) bytes in \(ContinuousClock.now - start)")
        print("Cache-Status: \(cacheStatus)")
    }
}
