import Foundation
import FoundationNetworking
import HTTPTypes
import Measuring
import Synchronization
import Waystation

/// Many loads through one session or one client, timed.
struct Loads: Sendable {
    /// Loads a URL, and returns the number of bytes.
    typealias Load = @Sendable (URL) async throws -> Int

    struct WrongBody: Error { let url: URL, count: Int }

    private let load: Load
    let count: Int
    private let next: @Sendable (Int) -> ArraySlice<URL>

    /// Makes loads that use the same URLs in every turn.
    init(_ session: URLSession, _ urls: [URL], count: Int) {
        self.init(urls, count: count) { try await session.data(from: $0).0.count }
    }

    /// Makes loads by a direct client that use the same URLs in every turn.
    init(_ client: DirectClient, _ urls: [URL], count: Int) {
        self.init(urls, count: count) { try await client.data(for: $0).0.count }
    }

    /// Makes the same loads with requests of Foundation's, which the client does not remember.
    init(requestsBy client: DirectClient, _ urls: [URL], count: Int) {
        self.init(urls, count: count) { try await client.data(for: URLRequest(url: $0)).0.count }
    }

    /// Makes the same loads with messages of three fields.
    ///
    /// The client does not remember a request that has an option of its own.
    init(messagesBy client: DirectClient, _ urls: [URL], count: Int, areRemembered: Bool) {
        var options = DirectClient.Options()
        if !areRemembered { options.timeout = .seconds(60) }
        let fields: HTTPFields = [.accept: "text/html", .acceptLanguage: "en", .userAgent: "bench"]
        // The messages are made before: making one is not part of the load.
        let messages = Dictionary(
            uniqueKeysWithValues: urls.map { url in
                let port = url.port.map { ":\($0)" } ?? ""
                let message = HTTPRequest(
                    method: .get,
                    scheme: url.scheme,
                    authority: "\(url.host() ?? "")\(port)",
                    path: url.path(),
                    headerFields: fields
                )
                return (url, message)
            }
        )
        self.init(urls, count: count) { [options] url in
            guard let message = messages[url] else { throw WrongBody(url: url, count: 0) }
            return try await client.data(for: message, options: options).0.count
        }
    }

    init(_ urls: [URL], count: Int, _ load: @escaping Load) {
        self.load = load
        self.count = count
        next = { _ in urls[...] }
    }

    /// Makes loads that use new URLs in every turn.
    init(_ session: URLSession, each urls: [URL], count: Int) {
        self.init(each: urls, count: count) { try await session.data(from: $0).0.count }
    }

    /// Makes loads by a direct client that use new URLs in every turn.
    init(_ client: DirectClient, each urls: [URL], count: Int) {
        self.init(each: urls, count: count) { try await client.data(for: $0).0.count }
    }

    init(each urls: [URL], count: Int, _ load: @escaping Load) {
        self.load = load
        self.count = count
        let used = UsedURLs(urls)
        next = { used.take($0) }
    }

    /// Measures the cost of one load in microseconds, with `width` loads at a time.
    func microseconds(atATime width: Int) async throws -> Double {
        let urls = Array(next(count))
        let clock = ContinuousClock()
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<width {
                group.addTask {
                    for number in stride(from: worker, to: count, by: width) {
                        let url = urls[number % urls.count]
                        let bytes = try await load(url)
                        guard bytes == Sizes.small else { throw WrongBody(url: url, count: bytes) }
                    }
                }
            }
            try await group.waitForAll()
        }
        return start.duration(to: clock.now) / .microseconds(1) / Double(count)
    }

    /// The number of loads under way at a time.
    enum Width: Int, CaseIterable {
        case alone = 1
        case crowd = 64

        var suffix: String { self == .alone ? "-alone" : "-64" }
    }

    /// Measures two ways side by side, both one at a time and 64 at a time.
    ///
    /// The figure of the judged width has the plain name and the limit; the other figure is only reported, unless it
    /// has a limit too.
    static func ratio(
        _ name: String,
        limit: Double?,
        judged: Width,
        otherLimit: Double? = nil,
        rounds: Int = 15,
        of measured: (name: String, loads: Loads),
        to base: (name: String, loads: Loads)
    ) async throws -> [Figure] {
        try await ratio(
            name,
            limit: limit,
            judged: judged,
            otherLimit: otherLimit,
            rounds: rounds,
            of: (measured.name, { measured.loads }),
            to: base
        )
    }

    /// As the function above, with loads that are made for each turn; making them is not part of the cost.
    static func ratio(
        _ name: String,
        limit: Double?,
        judged: Width,
        otherLimit: Double? = nil,
        rounds: Int = 15,
        of measured: (name: String, makeLoads: () throws -> Loads),
        to base: (name: String, loads: Loads)
    ) async throws -> [Figure] {
        try await ratio(
            name,
            limit: limit,
            judged: judged,
            otherLimit: otherLimit,
            rounds: rounds,
            of: (measured.name, { try await measured.makeLoads().microseconds(atATime: $0.rawValue) }),
            to: (base.name, { try await base.loads.microseconds(atATime: $0.rawValue) })
        )
    }

    /// A way to load, with the microseconds of a load at a width.
    typealias Way = (name: String, cost: (Width) async throws -> Double)

    /// Measures two ways of any kind side by side, as the functions above do.
    static func ratio(
        _ name: String,
        limit: Double?,
        bound: Figure.Bound = .atMost,
        judged: Width,
        otherLimit: Double? = nil,
        rounds: Int = 15,
        of measured: Way,
        to base: Way
    ) async throws -> [Figure] {
        var figures: [Figure] = []
        for width in [judged] + Width.allCases.filter({ $0 != judged }) {
            let costs = try await interleaved(
                rounds: rounds,
                [{ try await base.cost(width) }, { try await measured.cost(width) }]
            )
            figures.append(
                Figure(
                    width == judged ? name : name + width.suffix,
                    costs[1] / costs[0],
                    limit: width == judged ? limit : otherLimit,
                    bound: bound,
                    against: ["\(base.name)-us": costs[0], "\(measured.name)-us": costs[1]]
                )
            )
        }
        return figures
    }
}

/// A list of URLs that gives out each URL once.
private final class UsedURLs: Sendable {
    private let rest: Mutex<ArraySlice<URL>>

    init(_ urls: [URL]) { rest = Mutex(urls[...]) }

    func take(_ count: Int) -> ArraySlice<URL> {
        rest.withLock { rest in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }
}
