import Measuring

/// A measurement with one or more names; one run may give several numbers that belong together.
struct Benchmark: Sendable {
    let names: [String]
    let run: @Sendable () async throws -> [Figure]

    init(_ names: String..., run: @escaping @Sendable () async throws -> [Figure]) {
        self.names = names
        self.run = run
    }

    static let all: [Benchmark] =
        hits + directHits + asyncHTTPClient + [manyEntries, opening] + purging + network + secureNetwork + [
            login, decisions,
        ]
        + digests + caching
        + peers
        + sharing + largeBodies + packs + gateway + testing + [crawls]
}
