import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting
import XCTest

/// The examples of the documentation comments about recordings, faults and traits.
enum TestNetworkExamples {
    static func recording(_ file: URL) async throws {
        // snippet: test-recording
        let recording = try Recording(file)
        let client = WeatherClient(session: try recording.makeSession())
        #expect(try await client.celsius() == 21)
        try recording.verify()
        // end snippet
    }

    static func route(_ recording: Recording) throws -> Interceptor {
        try Interceptor {
            // snippet: recorded-route
            $0.rules = [.allow("https://api.example/**", via: .recorded(recording))]
            // end snippet
        }
    }

    static func faults(_ stubs: Stubs, _ recording: Recording) throws -> [URLSession] {
        // snippet: faults
        let slow = try stubs.makeSession(faults: .slow3G)
        let offline = try recording.makeSession(faults: .offline)
        // end snippet
        return [slow, offline]
    }

    static func faultyNetwork() throws -> Interceptor {
        try Interceptor {
            // snippet: faulty-network
            $0.makeTransport = {
                Faults.flaky(seed: 7).applied(to: URLSessionTransport(configuration: $0), time: .real)
            }
            // end snippet
        }
    }

    static func faultyRoutes() throws -> Interceptor {
        try Interceptor {
            // snippet: faulty-route
            $0.rules = [.allow("https://api.example/**", via: .network(faults: .flaky(seed: 7)))]
            // end snippet
            // snippet: faulty-routes
            $0.rules = [
                .allow("https://api.example/**", via: .network(faults: .flaky(seed: 7))),
                .allow("https://img.example/**", via: .network(faults: .slow3G)),
            ]
            // end snippet
        }
    }

    static func function() async throws {
        // snippet: with-stubs
        try await withStubs {
            Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
        } perform: { _ in
            let client = WeatherClient()  // loads by URLSession.shared
            let celsius = try await client.celsius()
            XCTAssertEqual(celsius, 21)
        }
        // end snippet
    }
}

struct StubbedExample {
    // snippet: stubbed-trait
    @Test(
        .stubbed {
            Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
        }
    )
    func weather() async throws {
        let client = WeatherClient()  // loads by URLSession.shared
        #expect(try await client.celsius() == 21)
    }
    // end snippet
}

// snippet: recorded-trait
@Suite(.recorded("orders"))
struct OrderTests {
    @Test func list() async throws {  // Recordings/orders/list.har, beside the file of the test
        let client = OrderClient()  // loads by URLSession.shared
        #expect(try await client.orders().count == 2)
    }
}
// end snippet

private struct OrderClient {
    var session = URLSession.shared

    func orders() async throws -> [String] {
        let (data, _) = try await session.data(from: #require(URL(string: "https://api.example/orders")))
        return try JSONDecoder().decode([String].self, from: data)
    }
}
