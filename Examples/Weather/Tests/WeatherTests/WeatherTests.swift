import Foundation
import FoundationNetworking
import Testing
import WaystationTesting
import Weather

private let service = URL(filePath: "/").withHost("api.weather.example")

/// A client that loads from the stubs or the recording of the test.
private func client() -> WeatherClient {
    WeatherClient(session: URLSession(configuration: .ofTest), service: service)
}

@Suite("The client of a weather service", .timeLimit(.minutes(15)))
struct WeatherTests {
    @Test(
        "reads a report",
        .stubbed { Stub(.get("https://api.weather.example/weather/Bonn"), .json(["place": "Bonn", "celsius": 21])) }
    )
    func report() async throws {
        #expect(try await client().report(on: "Bonn") == .init(place: "Bonn", celsius: 21))
    }

    @Test(
        "gets the test's answers by the shared session, too",
        .stubbed { Stub(.get("https://api.weather.example/weather/Bonn"), .json(["place": "Bonn", "celsius": 8])) }
    )
    func shared() async throws {
        let client = WeatherClient(session: .shared, service: service)
        #expect(try await client.report(on: "Bonn").celsius == 8)
    }

    @Test(
        "asks again once if the service is busy",
        .stubbed {
            Stub(
                .get("https://api.weather.example/weather/*"),
                .status(503).delayed(by: .seconds(30)),
                .json(["place": "Bonn", "celsius": 4])
            ).times(2)
        }
    )
    func busy() async throws {
        #expect(try await client().report(on: "Bonn").celsius == 4)
    }

    @Test(
        "sends a report with the token",
        .stubbed {
            Stub(
                .post("https://api.weather.example/reports").json("celsius", 3).field("Authorization", "Bearer ada"),
                .status(201)
            ).once()
        }
    )
    func send() async throws {
        try await client().send(.init(place: "Bonn", celsius: 3), token: "ada")
    }

    @Test("fails without a network", .stubbed(faults: .offline) { Stub(.any("*://*:*/**")).never() })
    func offline() async {
        await #expect(throws: WeatherClient.Failure.unreachable) { try await client().report(on: "Bonn") }
    }

    @Test(
        "fails on a network that is slower than its time limit",
        .stubbed(faults: Faults { $0.latency = .seconds(90) }) { Stub(.any("*://*:*/**"), .ok("{}")) }
    )
    func slow() async {
        await #expect(throws: WeatherClient.Failure.unreachable) { try await client().report(on: "Bonn") }
    }

    @Test("gets its own answer in each of 64 tests at the same time, in 1,000 rounds")
    func parallel() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await withStubs {
                        Stub(.get("https://api.weather.example/weather/Bonn"), .json(Answer(celsius: number)))
                            .times(1_000)
                    } perform: { _ in
                        let client = client()
                        for _ in 0..<1_000 {
                            let celsius = try await client.report(on: "Bonn").celsius
                            guard celsius == Double(number) else { throw Mixed(expected: number, found: celsius) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

@Suite("A recorded weather service", .recorded("forecast", mode: .replay))
struct RecordedWeatherTests {
    @Test func bonn() async throws {
        #expect(try await client().report(on: "Bonn") == .init(place: "Bonn", celsius: 17.5))
        try await client().send(.init(place: "Bonn", celsius: 17), token: "any token: the recording has none")
    }
}

private struct Answer: Encodable {
    var place = "Bonn"
    let celsius: Int
}

private struct Mixed: Error {
    let expected: Int
    let found: Double
}

extension URL {
    fileprivate func withHost(_ host: String) -> URL {
        var parts = URLComponents()
        (parts.scheme, parts.host, parts.path) = ("https", host, "/")
        return parts.url ?? self
    }
}
