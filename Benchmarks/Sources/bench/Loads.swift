import Foundation
import FoundationNetworking
import Measuring

/// Many loads through one session, timed.
struct Loads: Sendable {
    struct WrongBody: Error { let url: URL, count: Int }

    let session: URLSession
    let urls: [URL]
    let count: Int

    init(_ session: URLSession, _ urls: [URL], count: Int) {
        self.session = session
        self.urls = urls
        self.count = count
    }

    /// The cost of one load in microseconds, with so many at a time.
    func microseconds(atATime width: Int) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for number in stride(from: worker, to: count, by: width) {
                        let url = urls[number % urls.count]
                        let (data, _) = try await session.data(from: url)
                        guard data.count == Sizes.small else { throw WrongBody(url: url, count: data.count) }
                    }
                }
            }
            try await group.waitForAll()
        }
        return start.duration(to: clock.now) / .microseconds(1) / Double(count)
    }

    /// Measures two ways side by side, at 64 at a time under `name`, and one at a time under `name-alone`.
    static func ratio(
        _ name: String,
        limit: Double,
        rounds: Int = 15,
        of measured: (name: String, loads: Loads),
        to base: (name: String, loads: Loads)
    ) async throws -> [Figure] {
        var figures: [Figure] = []
        for (suffix, width) in [("", 64), ("-alone", 1)] {
            let costs = try await interleaved(
                rounds: rounds,
                [
                    { try await base.loads.microseconds(atATime: width) },
                    { try await measured.loads.microseconds(atATime: width) },
                ]
            )
            figures.append(
                Figure(
                    name + suffix,
                    costs[1] / costs[0],
                    limit: limit,
                    against: ["\(base.name)-us": costs[0], "\(measured.name)-us": costs[1]]
                )
            )
        }
        return figures
    }
}
