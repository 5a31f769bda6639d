import Foundation
import Measuring
import Waystation

/// Endless bodies, as fast as the client reads them, to delegates that do nothing for a while and are then cancelled.
struct StillLoads {
    /// A long run also judges the time from the cancel to the end of the connection, in milliseconds.
    private static let cancelLimit = 100.0
    private static let longRun = 60.0
    /// The time after which something that should happen at once is given up.
    private static let patience = Duration.seconds(600)

    /// A way to load.
    private enum Way: String, CaseIterable {
        /// No cache takes part.
        case forwarded
        /// The cache takes part, but must not store the response.
        case unstored
        /// The response is stored.
        case stored
        case http2
        /// The app suspends the task at the first bytes, instead of keeping its delegate busy.
        case suspended

        var version: Version { self == .http2 ? .http2 : .http1 }
        var isCached: Bool { self == .unstored || self == .stored }
        var path: String { "endless/\(rawValue)" }
    }

    let seconds: Double

    /// Returns whether the memory stayed within the limit, and every cancel ended its connection.
    func run() async throws -> Bool {
        let server = try ServerProcess(seed: 1)
        server.watchClosing()
        let scratch = try ScratchDirectory()
        let loads = try Way.allCases.map { way in
            let directory = way.isCached ? scratch.url.appendingPathComponent(way.rawValue) : nil
            let interceptor = try Client.interceptor(way.version, storingIn: directory)
            return (way, StillLoad(server.url(way.version, way.path), by: interceptor, suspends: way == .suspended))
        }
        let before = ProcessMemory.residentMiB
        for (_, load) in loads { load.begin() }
        for (_, load) in loads { _ = try await moment { load.received > 0 ? ContinuousClock.now : nil } }
        try await Task.sleep(for: .seconds(seconds))
        let growth = ProcessMemory.peakMiB - before
        var wrong: [String] = []
        for (way, load) in loads {
            let start = ContinuousClock.now
            load.cancel()
            guard load.received > 0, let end = try await moment({ server.closing(of: way.path) }) else {
                wrong.append("\(way): it got no bytes, or its connection stayed open after the cancel")
                continue
            }
            let milliseconds = (end - start) / .milliseconds(1)
            say(
                "\(way): \(load.received) bytes arrived in \(seconds) s, "
                    + String(format: "and the cancel ended the connection in %.1f ms", milliseconds)
            )
            if seconds >= Self.longRun, milliseconds > Self.cancelLimit {
                wrong.append("\(way): the cancel took more than \(Self.cancelLimit) ms")
            }
        }
        for (_, load) in loads { load.release() }
        for (way, load) in loads {
            _ = try await moment { load.end == nil ? nil : ContinuousClock.now }
            if load.end != .cancelled { wrong.append("\(way): the load did not end by its cancel") }
        }
        if growth >= memoryLimit { wrong.append("the memory grew by more than \(Int(memoryLimit)) MiB") }
        for line in wrong { say("WRONG \(line)") }
        say(
            "still: \(loads.count) endless bodies to delegates that did nothing for \(seconds) s, \(wrong.count) wrong, "
                + String(format: "peak +%.0f MiB", growth)
        )
        return wrong.isEmpty
    }

    /// Waits until something has happened, and returns the moment when it did; nil when it does not happen.
    private func moment(_ find: () -> ContinuousClock.Instant?) async throws -> ContinuousClock.Instant? {
        let start = ContinuousClock.now
        while ContinuousClock.now - start < Self.patience {
            if let found = find() { return found }
            try await Task.sleep(for: .milliseconds(1))
        }
        return nil
    }
}
