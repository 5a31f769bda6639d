import Foundation
import FoundationNetworking

struct WeatherClient {
    struct Report: Codable, Equatable {
        let place: String
        let celsius: Double
    }

    enum Failure: Error, Equatable {
        case status(Int)
        case unreachable
    }

    var session = URLSession.shared
    var service = "https://api.weather.example"

    /// Returns the weather of a place; asks again once if the service is busy.
    func report(on place: String) async throws -> Report {
        do { return try await load(place) } catch Failure.status(503) { return try await load(place) }
    }

    private func load(_ place: String) async throws -> Report {
        guard let url = URL(string: "\(service)/weather/\(place)") else { throw URLError(.badURL) }
        let (data, response): (Data, URLResponse)
        do { (data, response) = try await session.data(from: url) } catch is URLError { throw Failure.unreachable }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw Failure.status(status) }
        return try JSONDecoder().decode(Report.self, from: data)
    }
}
