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

@Test(
    .stubbed {
        Stub(
            .get("https://api.weather.example/weather/*"),
            .status(503).delayed(by: .seconds(30)),
            .json(["place": "Bonn", "celsius": 4])
        ).times(2)
    }
)
func busy() async throws {
    let client = WeatherClient(session: URLSession(configuration: .ofTest))
    #expect(try await client.report(on: "Bonn").celsius == 4)
}

@Test(.stubbed(faults: .offline) { Stub(.any("*://*:*/**")).never() })
func offline() async {
    let client = WeatherClient(session: URLSession(configuration: .ofTest))
    await #expect(throws: WeatherClient.Failure.unreachable) { try await client.report(on: "Bonn") }
}
