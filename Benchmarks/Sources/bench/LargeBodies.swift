import Foundation
import FoundationNetworking
@_spi(Processes) import Measuring
import Synchronization
@_spi(Processes) import WaystationTesting

extension Benchmark {
    /// A quarter of a gibibyte to a delegate: what it takes of memory, and how fast it comes.
    static let largeBodies: [Benchmark] = [
        Benchmark("large-body-memory") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try writeLargeBody(to: nginx.root)
            var peaks: [String: Double] = [:]
            for way in LargeLoad.Way.allCases {
                // A process of its own each, since a peak never goes down again.
                let home = try ScratchDirectory()
                let child = try ChildProcess.run(
                    ["--large", way.rawValue, nginx.url("large.bin").absoluteString, nginx.root.path],
                    home: home.url,
                    limit: 120
                )
                let output = String(decoding: child.output, as: UTF8.self)
                guard child.ending == .exited(0), let peak = Double(output.trimmingCharacters(in: .newlines)) else {
                    throw LargeLoad.Failure(description: "\(way): \(child.ending) \(output) \(child.complaint)")
                }
                peaks[way.rawValue] = peak
            }
            let against = ["plain-MiB": peaks["plain"] ?? .nan]
            return ["file", "forwarded", "stored"].map { way in
                Figure(
                    "large-body-memory-\(way)",
                    peaks[way] ?? .nan,
                    unit: "MiB",
                    // What is stored comes through a session of its own, and Foundation runs all sessions on one serial
                    // queue: a server on loopback fills it, and what has arrived waits for its turn. Told, not judged.
                    limit: way == "stored" ? nil : 64,
                    against: against
                )
            }
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

/// One large body at a time, to a delegate that only counts.
struct LargeLoad: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    enum Way: String, CaseIterable { case plain, file, forwarded, stored }

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

    /// In a process of its own: loads the body one way, and prints the peak of memory over the idle process in MiB.
    static func runChild(_ way: Way, _ address: String, root: String) async throws {
        let root = URL(fileURLWithPath: root)
        let archive = try ScratchDirectory()
        let intercepted: InterceptedSession =
            switch way {
            case .plain: .plain
            case .file: try .files(in: root, at: url("http://files.test/"))
            case .forwarded: try .network()
            case .stored: try .stored(in: archive.url)
            }
        let load = LargeLoad(intercepted)
        let address = way == .file ? url("http://files.test/large.bin") : url(address)
        // Idle means: everything is loaded and has been used once, for a small body.
        let small = root.appendingPathComponent("small.txt")
        try Floor.body.write(to: small)
        let warmUp = address.deletingLastPathComponent().appendingPathComponent("small.txt")
        _ = try await load.seconds(warmUp, expecting: Sizes.small)
        let idle = ProcessMemory.residentMiB
        _ = try await load.seconds(address)
        say(String(format: "%.1f", ProcessMemory.peakMiB - idle))
    }
}

/// Counts the bytes of one load after another.
private final class Counter: NSObject, URLSessionDataDelegate, Sendable {
    private struct State {
        var count = 0
        var waiter: CheckedContinuation<Int, any Error>?
    }

    private let state = Mutex(State())

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
