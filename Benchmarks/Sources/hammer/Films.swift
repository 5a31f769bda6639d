import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import Waystation
import WaystationStorage
import WaystationTesting

/// The loads of one process through the rules of a cache: ranges and wholes of films, from responses that break off now and
/// then, and purges of the films by tag and by group.
///
/// A film follows from its number and from the version in its `ETag`, so that any process can check the parts that any other
/// has stored.
struct Films {
    static let count = 5
    static let length = 300_000
    static let prefix = "https://films.example/"
    static let tag = "films"
    static let group = "cinema"

    /// The number of loads that got their bytes, of those whose response broke off, and of purges.
    struct Counts {
        var loads = 0
        var failures = 0
        var purges = 0

        init() {}

        /// Reads the text of ``description``; nil if a kill has cut it short.
        init?(_ text: some StringProtocol) {
            let numbers = text.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 4, numbers[3] == numbers[0] + numbers[1] + numbers[2] else { return nil }
            (loads, failures, purges) = (numbers[0], numbers[1], numbers[2])
        }

        /// The numbers and their sum.
        var description: String { "\(loads) \(failures) \(purges) \(loads + failures + purges)" }

        mutating func add(_ other: Counts) {
            loads += other.loads
            failures += other.failures
            purges += other.purges
        }
    }

    private var counts = Counts()
    private let interceptor: Interceptor
    private let client: DirectClient
    private let cache: ResponseCache
    private let complaints: Complaints
    /// Names this process in the responses that it has loaded.
    private let maker: String
    /// The number of the last load before the last purge.
    private var purgedUpTo = 0
    /// Counts the responses that this process has loaded.
    private let made = Numbers()

    init(directory: URL, maker: String, complaints: Complaints) throws {
        self.complaints = complaints
        self.maker = maker
        let transport = ScriptedTransport { [made] request in Self.answer(to: request, by: maker, made.next()) }
        let cache = try ResponseCache(
            directory: directory,
            maximumSize: Material.limits.maximumSize,
            maximumEntrySize: Material.limits.maximumEntrySize
        )
        interceptor = try Interceptor {
            $0.rules = [.allow("\(Self.prefix)**", via: .cache(.standard.checkingDigests(), tags: [Self.tag]))]
            $0.cache = cache
            $0.makeTransport = { _ in transport }
        }
        client = interceptor.client()
        self.cache = cache
        Task { [events = interceptor.events] in
            for await event in events {
                guard case .store(let event) = event.kind else { continue }
                if [.damaged, .full, .truncated, .tooLarge].contains(event.kind) { complaints.add("event \(event)") }
            }
        }
    }

    /// The content of a film.
    static func body(_ number: Int, version: Int) -> Data {
        Pattern.body(-1_000 - number * 10 - version, count: length)
    }

    /// The version that an entity tag names.
    static func version(_ tag: String?) -> Int? { tag.flatMap { Int($0.replacing("\"", with: "")) } }

    /// The counts since the last call, as text.
    mutating func takeCounts() -> String {
        defer { counts = Counts() }
        return counts.description
    }

    /// Returns when all that was loaded is written.
    func flush() async { await cache.flush() }

    mutating func step(using random: inout SeededRandom) async {
        switch Int.random(in: 0..<60, using: &random) {
        case 0: await purge(using: &random)
        default: await load(using: &random)
        }
    }

    private mutating func purge(using random: inout SeededRandom) async {
        let kind: PurgeKind = Bool.random(using: &random) ? .hard : .soft
        guard let origin = URL(string: Self.prefix) else { return }
        if Bool.random(using: &random) {
            try? await cache.purge(tag: Self.tag, as: kind)
        } else {
            try? await cache.purge(group: Self.group, of: origin, as: kind)
        }
        purgedUpTo = made.last
        counts.purges += 1
    }

    private mutating func load(using random: inout SeededRandom) async {
        let number = Int.random(in: 0..<Self.count, using: &random)
        guard let url = URL(string: "\(Self.prefix)\(number)") else { return }
        var request = URLRequest(url: url)
        var range: Range<Int>?
        if Int.random(in: 0..<5, using: &random) > 0 {
            let first = Int.random(in: 0..<Self.length, using: &random)
            let span = first..<min(Self.length, first + Int.random(in: 1..<100_000, using: &random))
            request.setValue("bytes=\(span.lowerBound)-\(span.upperBound - 1)", forHTTPHeaderField: "Range")
            range = span
        }
        guard let (body, head) = try? await client.data(for: request) else {
            counts.failures += 1
            return
        }
        check(head, body, number, range)
        counts.loads += 1
    }

    private func check(_ head: HTTPURLResponse, _ body: Data, _ number: Int, _ range: Range<Int>?) {
        func field(_ name: String) -> String { head.value(forHTTPHeaderField: name) ?? "none" }
        let what = "film \(number), \(range.map { "bytes \($0)" } ?? "whole"), status \(head.statusCode)"
        guard let version = Self.version(field("ETag")) else { return complaints.add("\(what): no version") }
        let whole = Self.body(number, version: version)
        let expected = head.statusCode == 206 ? whole.subdata(in: range ?? 0..<whole.count) : whole
        if body != expected { complaints.add("\(what): wrong bytes, \(field("Cache-Status"))") }
        let names = ["Waystation-Tags", "Waystation-Unconfirmed"].filter { head.value(forHTTPHeaderField: $0) != nil }
        if !names.isEmpty { complaints.add("\(what): the client got \(names)") }
        let isHit = field("Cache-Status").contains("; hit")
        if isHit, field("X-Maker") == maker, let made = Int(field("X-Made")), made <= purgedUpTo {
            complaints.add("\(what): response \(made) was served, and purged up to \(purgedUpTo)")
        }
    }

    // MARK: - The origin

    /// The answer of an origin that gives each film another version now and then, and breaks off one response in eight.
    private static func answer(to request: URLRequest, by maker: String, _ made: Int) -> ScriptedTransport.Answer {
        let number = Int(request.url?.lastPathComponent ?? "") ?? 0
        let version = (Int(Date().timeIntervalSince1970) / 7 + number) % 3
        let tag = "\"\(version)\""
        var fields = [
            "ETag": tag, "Cache-Control": "max-age=3600", "Cache-Groups": "\"\(group)\"", "X-Maker": maker,
            "X-Made": "\(made)",
        ]
        if request.value(forHTTPHeaderField: "If-None-Match")?.contains(tag) == true {
            return .status(304, fields: fields)
        }
        var body = body(number, version: version)
        var status = 200
        if let span = request.value(forHTTPHeaderField: "Range").flatMap(span),
            request.value(forHTTPHeaderField: "If-Range").map({ $0 == tag }) ?? true
        {
            fields["Content-Range"] = "bytes \(span.lowerBound)-\(span.upperBound - 1)/\(length)"
            body = body.subdata(in: span)
            status = 206
        }
        fields["Content-Length"] = "\(body.count)"
        guard made % 8 == 7 else { return .status(status, fields: fields, body: body) }
        let steps = [ScriptedTransport.Step.head(status, fields: fields), .part(body.prefix(body.count * 2 / 3))]
        return ScriptedTransport.Answer(steps + [.error(URLError(.networkConnectionLost))])
    }

    private static func span(_ range: String) -> Range<Int>? {
        let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), first < length else { return nil }
        return first..<min(length, (Int(ends[1]) ?? length - 1) + 1)
    }
}

/// Numbers that rise by one.
private final class Numbers: Sendable {
    private let number = Mutex(0)

    var last: Int { number.withLock { $0 } }

    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
