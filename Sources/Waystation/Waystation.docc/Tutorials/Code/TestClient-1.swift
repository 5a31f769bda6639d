import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@testable import Weather

@Test(
    .stubbed {
        Stub(.get("https://api.weather.example/weather/Bonn"), .json(["place": "Bonn", "celsius": 21]))
    }
)
func report() async throws {
    let client = WeatherClient(session: URLSession(configuration: .ofTest))
    #expect(try await client.report(on: "Bonn") == .init(place: "Bonn", celsius: 21))
}
