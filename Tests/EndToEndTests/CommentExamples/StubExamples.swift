import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

// Code of an app, as the examples test it.
// snippet: weather-client
struct WeatherClient {
    var session = URLSession.shared

    func celsius() async throws -> Int {
        guard let url = URL(string: "https://api.example/weather") else { throw URLError(.badURL) }
        let (data, _) = try await session.data(from: url)
        return try JSONDecoder().decode([String: Int].self, from: data)["celsius"] ?? 0
    }
}
// end snippet

/// The examples of the documentation comments about stubs.
enum StubExamples {
    static func stubs() async throws {
        // snippet: stubs-class
        let stubs = try Stubs {
            Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
            Stub(.post("https://api.example/orders").json("item", "tea"), .status(201)).once()
        }
        let client = WeatherClient(session: try stubs.makeSession())
        #expect(try await client.celsius() == 21)
        try stubs.verify()
        // end snippet
    }

    @StubsBuilder static var answers: [Stub] {
        // snippet: stub
        Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
        Stub(.get("https://api.example/news"), .status(503), .ok("all quiet"))
        Stub(.delete("https://api.example/orders/*"), .status(204)).once()
        // end snippet
    }

    @StubsBuilder static var patterns: [Stub] {
        // snippet: request-pattern
        Stub(.get("https://api.example/users/*").query("page", "2"), .json(["name": "Ada"]))
        Stub(.post("https://api.example/orders").json("customer.id", 7), .status(201))
        // end snippet
    }

    static func route(_ stubs: Stubs) throws -> Interceptor {
        try Interceptor {
            // snippet: stubs-route
            $0.rules = [.allow("https://api.example/**", via: .stubs(stubs))]
            // end snippet
        }
    }
}
