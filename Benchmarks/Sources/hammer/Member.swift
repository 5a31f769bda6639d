import Foundation
import HTTPTypes
import Measuring
import Synchronization
import WaystationStorage

/// One process of the crowd: it stores, looks up, freshens, invalidates and purges, as apps do, and loads films, until its
/// time is up.
struct Member {
    let store: ResponseStore
    private var films: Films
    private var random: SeededRandom
    private let progress = StepCount()
    private let complaints: Complaints

    init(directory: URL, seed: UInt64) throws {
        let complaints = Complaints()
        self.complaints = complaints
        let report: @Sendable (StoreEvent) -> Void = { event in
            // The store must look intact to the living processes while others are killed in it.
            switch event.kind {
            case .damaged, .full, .truncated, .tooLarge: complaints.add("event \(event)")
            case .unavailable: say("note \(event)")
            case .evicted: say("evicted \(event.count)")
            default: break
            }
        }
        store = ResponseStore(directory: directory, limits: Material.limits, events: report)
        random = SeededRandom(seed: seed)
        films = try Films(directory: directory, maker: "\(seed)", complaints: complaints)
    }

    /// - Returns: The exit code.
    mutating func run(seconds: Double) async -> Int32 {
        watch()
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end, complaints.isEmpty {
            for _ in 0..<50 where complaints.isEmpty {
                await step()
                progress.add()
            }
            say("done 50")
            say("films \(films.takeCounts())")
        }
        await store.flush()
        await films.flush()
        for complaint in complaints.all { say("wrong \(complaint)") }
        return complaints.isEmpty ? 0 : 3
    }

    private mutating func step() async {
        let number = Int.random(in: 0..<Material.urls, using: &random)
        let key = Material.key(number, Material.partitions[Int.random(in: 0..<3, using: &random)])
        switch Int.random(in: 0..<120, using: &random) {
        case 100...: await films.step(using: &random)
        case ..<45: await check(key, number)
        case ..<85: await write(key, number)
        case ..<93: await freshen(key)
        case ..<96: store.invalidate(url: key.url, partition: key.partition)
        case ..<98: await bound()
        case ..<99: await purge(key)
        default: _ = try? await store.remove(store.lookup(key))
        }
    }

    private mutating func purge(_ key: RequestKey) async {
        // Purges are rare, so that the store is full most of the time.
        switch Int.random(in: 0..<40, using: &random) {
        case 0: _ = try? await store.remove(.host("host\(Int.random(in: 0..<4, using: &random)).example"))
        case 1: store.invalidate(partition: key.partition)
        default: _ = try? await store.remove(.url(key.url))
        }
    }

    private mutating func write(_ key: RequestKey, _ number: Int) async {
        let version = Int.random(in: 0..<1_000, using: &random)
        let now = Date()
        let body = Material.body(number, version: version)
        let entry = StoredHead(
            key: key,
            status: 200,
            headerFields: [Material.version: "\(version)"],
            vary: Material.vary(Int.random(in: 0..<3, using: &random)),
            requestTime: now,
            responseTime: now,
            contentLength: Bool.random(using: &random) ? body.count : nil
        )
        guard let writer = store.begin(entry) else { return }
        for start in stride(from: 0, to: body.count, by: 20_000) { writer.append(body.dropFirst(start).prefix(20_000)) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: writer.abandon()
        case 1..<5: writer.commit { _ in }
        default: _ = try? await writer.commit()
        }
    }

    private func check(_ key: RequestKey, _ number: Int) async {
        for response in await store.lookup(key) {
            guard let version = response.head.headerFields[Material.version].flatMap({ Int($0) }) else {
                complaints.add("a response without its fields: \(key)")
                continue
            }
            do {
                if try response.body.contents() != Material.body(number, version: version) {
                    complaints.add("a wrong body: \(key), version \(version)")
                }
            } catch {
                complaints.add("\(key): \(error)")
            }
        }
    }

    private mutating func freshen(_ key: RequestKey) async {
        for response in await store.lookup(key) {
            var fields = response.head.headerFields
            fields[Material.freshened] = String(repeating: "x", count: Int.random(in: 0..<200, using: &random))
            let (head, now) = (response.head, Date())
            let freshened = StoredHead(
                key: head.key,
                status: head.status,
                headerFields: fields,
                vary: head.vary,
                requestTime: now,
                responseTime: now
            )
            store.freshen(response, with: freshened)
        }
    }

    /// Each writer evicts after its own writes, so the total may exceed the maximum by what the 8 writers have under
    /// way.
    private func bound() async {
        let statistics = await store.statistics()
        let tolerance = 16 * 205_000
        if statistics.isAvailable, statistics.bytes > Material.limits.maximumSize.bytes + tolerance {
            complaints.add("\(statistics.bytes) bytes are stored")
        }
    }

    private func watch() {
        let progress = progress
        StallWatch.begin(patience: 60, progress: { progress.count }) {
            say("wrong hung after \(progress.count) steps")
            exit(4)
        }
    }
}

/// The errors that a member has found.
final class Complaints: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock { $0 } }
    var isEmpty: Bool { lines.withLock { $0.isEmpty } }
}
