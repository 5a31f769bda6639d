import Foundation
import FoundationNetworking
@_spi(Processes) import Measuring
import Synchronization
import WaystationTestSupport
import WaystationTesting

extension Benchmark {
    /// Measures the memory and the throughput of a body of 256 MiB that a delegate receives.
    static let largeBodies: [Benchmark] = [
        Benchmark("large-body-memory") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try writeLargeBody(to: nginx.root)
            var peaks: [String: Double] = [:]
            for way in LargeLoad.Way.allCases {
                let numbers = try LargeLoad.inOwnProcess(
                    "--large",
                    way,
                    nginx.url("large.bin"),
                    in: nginx.root,
                    count: 1
                )
                peaks[way.rawValue] = numbers[0]
            }
            let against = ["plain-MiB": peaks["plain"] ?? .nan]
            return ["file", "forwarded", "relayed", "stored"].map { way in
                Figure("large-body-memory-\(way)", peaks[way] ?? .nan, unit: "MiB", limit: 64, against: against)
            }
        },
        Benchmark("endless-body") {
            let part = Pattern.body(0, count: 1 << 20)
            // 64 GiB are practically endless.
            let origin = try ScriptedOrigin(keepsRequests: false) { request in
                request.path == "/small.txt"
                    ? .ok(Floor.body)
                    : .stream(Array(repeating: .bytes(part), count: 64 << 10), framing: .untilClose)
            }
            var figures: [Figure] = []
            for way in LargeLoad.Way.allCases where way != .file {
                let home = try ScratchDirectory()
                let numbers = try LargeLoad.inOwnProcess(
                    "--endless",
                    way,
                    origin.url("/endless"),
                    in: home.url,
                    count: 3
                )
                // The other ways use Foundation's own loader: their figures are printed without a limit.
                let isOurs = way == .relayed || way == .stored
                figures += [
                    Figure(
                        "endless-body-memory-\(way.rawValue)",
                        numbers[0],
                        unit: "MiB",
                        limit: isOurs ? 64 : nil,
                        against: ["MiB/s": numbers[2]]
                    ),
                    Figure("endless-body-cancel-\(way.rawValue)", numbers[1], unit: "s", limit: isOurs ? 1 : nil),
                ]
            }
            return figures
        },
        Benchmark("large-body/plain") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try writeLargeBody(to: nginx.root)
            let plain = LargeLoad(.plain)
            let forwarded = LargeLoad(try .network())
            let url = nginx.url("large.bin")
            let seconds = try await interleaved(
                rounds: 7,
                [{ try await plain.seconds(url) }, { try await forwarded.seconds(url) }]
            )
            let speeds = seconds.map { Double(Sizes.large >> 20) / $0 }
            return [
                Figure(
                    "large-body/plain",
                    speeds[1] / speeds[0],
                    limit: 0.8,
                    bound: .atLeast,
                    against: ["plain-MiB/s": speeds[0], "forwarded-MiB/s": speeds[1]]
                )
            ]
        },
    ]

    private static func writeLargeBody(to directory: URL) throws {
        let file = directory.appendingPathComponent("large.bin")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        for number in 0..<(Sizes.large >> 20) { try handle.write(contentsOf: Pattern.body(number, count: 1 << 20)) }
        try handle.close()
    }
}

/// Loads one large body at a time, with a delegate that only counts.
struct LargeLoad: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    enum Way: String, CaseIterable { case plain, file, forwarded, relayed, stored }

    private let counter = Counter()
    private let session: URLSession

    init(_ intercepted: InterceptedSession) {
        session = URLSession(configuration: intercepted.configuration(), delegate: counter, delegateQueue: nil)
    }

    func seconds(_ url: URL, expecting size: Int = Sizes.large) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let count = try await counter.load(session.dataTask(with: url))
        guard count == size else { throw Failure(description: "\(count) bytes of \(size) from \(url)") }
        return start.duration(to: clock.now) / .seconds(1)
    }

    /// Loads a body in a process of its own, since the peak of a process's memory never falls again.
    ///
    /// - Returns: The numbers that the process printed, `count` of them.
    static func inOwnProcess(
        _ option: String,
        _ way: Way,
        _ address: URL,
        in root: URL,
        count: Int
    ) throws -> [Double] {
        let home = try ScratchDirectory()
        let arguments = [option, way.rawValue, address.absoluteString, root.path]
        let child = try ChildProcess.run(arguments, home: home.url, limit: 120)
        let output = String(decoding: child.output, as: UTF8.self)
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard child.ending == .exited(0), numbers.count == count else {
            throw Failure(description: "\(way): \(child.ending) \(output) \(child.complaint)")
        }
        return numbers
    }

    /// Runs in a process of its own: loads the body in one way, and prints the peak of memory above the idle process in
    /// MiB.
    static func runChild(_ way: Way, _ address: String, root: String) async throws {
        let root = URL(fileURLWithPath: root)
        let archive = try ScratchDirectory()
        let load = LargeLoad(try intercepted(way, root: root, archive: archive))
        let address = way == .file ? url("http://files.test/large.bin") : url(address)
        let idle = try await load.idle(address, root: root)
        _ = try await load.seconds(address)
        say(String(format: "%.1f", ProcessMemory.peakMiB - idle))
    }

    /// Runs in a process of its own: loads an endless body in one way for ten seconds, and then cancels the load.
    ///
    /// Prints the peak of memory above the idle process in MiB, the seconds from the cancel to the end, and the
    /// received MiB per second. A cancel that takes more than a minute counts as one minute.
    static func runEndless(_ way: Way, _ address: String, root: String) async throws {
        let root = URL(fileURLWithPath: root)
        let archive = try ScratchDirectory()
        let load = LargeLoad(try intercepted(way, root: root, archive: archive))
        let idle = try await load.idle(url(address), root: root)
        let task = load.session.dataTask(with: url(address))
        async let end: Int = load.counter.load(task)
        try await Task.sleep(for: .seconds(10))
        let count = load.counter.count
        let clock = ContinuousClock()
        let cancelled = clock.now
        let rate = Double(count >> 20) / 10
        let report: @Sendable (Double) -> Void = { seconds in
            say(String(format: "%.1f %.3f %.0f", ProcessMemory.peakMiB - idle, seconds, rate))
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 60)
            report(60)
            exit(0)
        }
        task.cancel()
        do {
            let count = try await end
            throw Failure(description: "an endless body ended after \(count) bytes")
        } catch let error as URLError where error.code == .cancelled {
            report(cancelled.duration(to: clock.now) / .seconds(1))
        }
    }

    private static func intercepted(
        _ way: Way,
        root: URL,
        archive: ScratchDirectory
    ) throws -> InterceptedSession {
        switch way {
        case .plain: .plain
        case .file: try .files(in: root, at: url("http://files.test/"))
        case .forwarded: try .network()
        case .relayed: try .relayed()
        case .stored: try .stored(in: archive.url)
        }
    }

    /// The memory of the process after it has loaded a small body once.
    private func idle(_ address: URL, root: URL) async throws -> Double {
        let small = root.appendingPathComponent("small.txt")
        try Floor.body.write(to: small)
        let warmUp = address.deletingLastPathComponent().appendingPathComponent("small.txt")
        _ = try await seconds(warmUp, expecting: Sizes.small)
        return ProcessMemory.residentMiB
    }
}

/// Counts the bytes of one load after another.
private final class Counter: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var count = 0
        var waiter: CheckedContinuation<Int, any Error>?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock(\.count) }

    func load(_ task: URLSessionTask) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0 = State(waiter: continuation) }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.count += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (waiter, count) = state.withLock { state in
            defer { state.waiter = nil }
            return (state.waiter, state.count)
        }
        if let error { waiter?.resume(throwing: error) } else { waiter?.resume(returning: count) }
    }
}
