import Foundation
import HTTPTypes
import Measuring
import Synchronization
import WaystationStorage

/// The loads of one row of the table, in a process of their own: a burst, a rest, and a normal end of the process.
struct Burst: Sendable {
    let directory: URL
    let limit: Int
    let width: Int

    /// The lines that the process prints, which begin the phases of its measurement.
    enum Phase: String { case written, rested }

    /// The bytes that are stored: four times the limit, and at least 32 MiB.
    private var total: Int { max(4 * limit, 32 << 20) }

    func run(resting seconds: Double) async {
        let report: @Sendable (StoreEvent) -> Void = { event in
            switch event.kind {
            case .damaged, .full, .unavailable: say("wrong \(event)")
            default: break
            }
        }
        let limits = StoreLimits(maximumSize: .bytes(limit))
        let store = ResponseStore(directory: directory, limits: limits, events: report)
        let progress = Progress()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while let number = progress.next(upTo: total, size: Self.size) {
                        await Self.load(number, Self.size(number), into: store)
                    }
                }
            }
        }
        say(Phase.written.rawValue)
        try? await Task.sleep(for: .seconds(seconds))
        let statistics = await store.statistics()
        say("\(Phase.rested.rawValue) \(statistics.bytes) \(statistics.diskBytes)")
    }

    /// The loads that were begun, and their bytes.
    private final class Progress: Sendable {
        private let begun = Mutex((count: 0, bytes: 0))

        /// The number of the next load; nil when there are enough.
        func next(upTo total: Int, size: (Int) -> Int) -> Int? {
            begun.withLock { begun in
                guard begun.bytes < total else { return nil }
                defer {
                    begun.bytes += size(begun.count)
                    begun.count += 1
                }
                return begun.count
            }
        }
    }

    /// Most bodies have 50 kB; every fourth has another size, some of them so large that they are in files.
    private static func size(_ number: Int) -> Int {
        let others = [300, 70_000, 4_000, 150_000, 16_384, 400_000, 65_536]
        return number % 4 == 3 ? others[number / 4 % others.count] : 50_000
    }

    /// Stores a response as a load does, which waits for no transaction of its own.
    private static func load(_ number: Int, _ size: Int, into store: ResponseStore) async {
        let now = Date()
        let head = StoredHead(
            key: RequestKey(method: "GET", url: "https://host.example/items/\(number)"),
            status: 200,
            headerFields: [.contentType: "application/octet-stream"],
            requestTime: now,
            responseTime: now
        )
        guard let writer = store.begin(head) else { return }
        let body = Pattern.body(number, count: size)
        for start in stride(from: 0, to: size, by: 16_384) {
            writer.append(body.dropFirst(start).prefix(16_384))
            await Task.yield()
        }
        await withCheckedContinuation { continuation in
            writer.commit { _ in continuation.resume() }
        }
    }
}
