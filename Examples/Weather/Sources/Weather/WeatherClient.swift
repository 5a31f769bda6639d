public import Foundation
public import FoundationNetworking

/// A client of a weather service.
public struct WeatherClient: Sendable {
    /// The weather of one place.
    public struct Report: Codable, Sendable, Equatable {
        /// The place.
        public let place: String
        /// The temperature in degrees Celsius.
        public let celsius: Double

        /// Makes a report.
        public init(place: String, celsius: Double) {
            self.place = place
            self.celsius = celsius
        }
    }

    /// An answer that is not a report.
    public enum Failure: Error, Equatable {
        /// The service answered with this status.
        case status(Int)
        /// The service cannot be reached.
        case unreachable
    }

    private let session: URLSession
    private let service: URL

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - session: The session that loads.
    ///   - service: The URL of the service, with a slash at its end.
    public init(session: URLSession, service: URL) {
        self.session = session
        self.service = service
    }

    /// Returns the weather of a place; asks again once if the service is busy or the connection is lost.
    public func report(on place: String) async throws -> Report {
        let url = service.appending(path: "weather/\(place)")
        do {
            return try JSONDecoder().decode(Report.self, from: try await load(URLRequest(url: url)))
        } catch Failure.status(503), Failure.unreachable {
            return try JSONDecoder().decode(Report.self, from: try await load(URLRequest(url: url)))
        }
    }

    /// Sends a report of the user's own.
    public func send(_ report: Report, token: String) async throws {
        var request = URLRequest(url: service.appending(path: "reports"))
        request.httpMethod = "POST"
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(report)
        _ = try await load(request)
    }

    private func load(_ request: URLRequest) async throws -> Data {
        let (data, response): (Data, URLResponse)
        do { (data, response) = try await session.data(for: request) } catch let error as URLError {
            let codes: Set<URLError.Code> = [
                .notConnectedToInternet, .networkConnectionLost, .timedOut, .cannotFindHost, .cannotConnectToHost,
            ]
            throw codes.contains(error.code) ? Failure.unreachable : error
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard 200...299 ~= status else { throw Failure.status(status) }
        return data
    }
}
