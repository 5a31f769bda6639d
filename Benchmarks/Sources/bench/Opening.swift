import Foundation
import HTTPTypes
import Measuring
import WaystationStorage

extension Benchmark {
    /// The cost of a start: from making a store to the result of its first look-up.
    static let opening = Benchmark("open-100000/open-100") {
        let few = try await FilledStore(entries: 100)
        let many = try await FilledStore(entries: 100_000)
        let costs = try await interleaved(
            rounds: 41,
            [{ try await few.openAndLookUp() }, { try await many.openAndLookUp() }]
        )
        return [
            Figure(
                "open-100000/open-100",
                costs[1] / costs[0],
                limit: 1.2,
                against: ["open-100000-us": costs[1], "open-100-us": costs[0]]
            )
        ]
    }
}

/// A store on disk with responses of 16 KiB, each with its own body; one body in a hundred is larger and in a file.
struct FilledStore: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let scratch: ScratchDirectory
    private let entries: Int
    private let limits = StoreLimits(maximumSize: .gibibytes(64))

    init(entries: Int) async throws {
        scratch = try ScratchDirectory()
        self.entries = entries
        let store = ResponseStore(directory: scratch.url, limits: limits)
        await store.flush()
        for number in 0..<entries {
            let now = Date()
            let entry = StoredHead(
                key: Self.key(number),
                status: 200,
                headerFields: [.contentType: "text/plain", .cacheControl: "max-age=3600", .eTag: "\"\(number)\""],
                requestTime: now,
                responseTime: now
            )
            guard let writer = store.begin(entry) else { throw Failure(description: "the store refuses responses") }
            writer.append(Self.body(number))
            // Waits after some responses, so that not all bodies are in memory at once.
            if number.isMultiple(of: 64) { try await writer.commit() } else { writer.commit { _ in } }
        }
        await store.flush()
        guard await store.statistics().entries == entries else { throw Failure(description: "responses are missing") }
    }

    /// - Returns: The cost in microseconds.
    func openAndLookUp() async throws -> Double {
        let number = Int.random(in: 0..<entries)
        let clock = ContinuousClock()
        let start = clock.now
        let store = ResponseStore(directory: scratch.url, limits: limits)
        let found = await store.lookup(Self.key(number))
        let cost = start.duration(to: clock.now) / .microseconds(1)
        guard try found.first?.body.contents() == Self.body(number) else {
            throw Failure(description: "a wrong body for \(number)")
        }
        // The store's work after its opening must end in this round, so that it does not count in the next.
        await store.flush()
        return cost
    }

    private static func key(_ number: Int) -> RequestKey {
        RequestKey(method: "GET", url: "https://shop.example/catalogue/items/\(number)")
    }

    private static func body(_ number: Int) -> Data {
        Pattern.body(number, count: number.isMultiple(of: 100) ? 80_000 : Sizes.small)
    }
}
