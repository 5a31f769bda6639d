/// The tier that answered a load.
enum Tier: Int, CaseIterable, Sendable, Codable {
    /// The machine's own memory or disk.
    case own
    case shared
    case origin

    /// Reads the tier from the field `Cache-Status`.
    init(cacheStatus: String) {
        self =
            !cacheStatus.contains("Waystation; hit") ? .origin : cacheStatus.contains("detail=shared") ? .shared : .own
    }

    var name: String {
        switch self {
        case .own: "memory or disk"
        case .shared: "Redis"
        case .origin: "origin"
        }
    }
}

/// The loads that ended within one second of a run, of one process or of all.
struct Interval: Sendable, Codable {
    /// The loads of one tier.
    struct Loads: Sendable, Codable {
        var count = 0
        var bytes = 0
        var durations = Histogram()
    }

    private var loads = Tier.allCases.map { _ in Loads() }
    var failed = 0

    subscript(tier: Tier) -> Loads { loads[tier.rawValue] }

    var count: Int { loads.reduce(0) { $0 + $1.count } }

    /// The durations of all loads.
    var durations: Histogram {
        loads.reduce(into: Histogram()) { $0.add($1.durations) }
    }

    mutating func add(_ tier: Tier, bytes: Int, microseconds: Double) {
        loads[tier.rawValue].count += 1
        loads[tier.rawValue].bytes += bytes
        loads[tier.rawValue].durations.add(microseconds: microseconds)
    }

    mutating func add(_ other: Interval) {
        for tier in Tier.allCases {
            loads[tier.rawValue].count += other[tier].count
            loads[tier.rawValue].bytes += other[tier].bytes
            loads[tier.rawValue].durations.add(other[tier].durations)
        }
        failed += other.failed
    }
}
