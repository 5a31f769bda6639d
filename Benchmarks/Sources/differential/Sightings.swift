import Foundation
import FoundationNetworking
import Measuring
import Synchronization

/// The events of a load so far.
final class Sightings: Sendable {
    private struct State {
        var calls: [String] = []
        var body = Fingerprint()
        var facts: [String: String] = [:]
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
        /// How often something was seen.
        var count = 0
    }

    private let state = Mutex(State())

    /// Records a call; with `coalescing`, a call that repeats the last one, such as data after data, counts only once.
    func call(_ call: String, coalescing: Bool = false) {
        state.withLock { state in
            state.count += 1
            if !coalescing || state.calls.last != call { state.calls.append(call) }
        }
    }

    func receive(_ data: Data) {
        state.withLock { state in
            state.count += 1
            state.body.append(data)
        }
    }

    func note(_ name: String, _ fact: String?) {
        state.withLock { $0.facts[name] = fact }
    }

    func note(_ response: URLResponse?) {
        guard let response else { return note("status", "none") }
        note("url", response.url?.absoluteString)
        note("expected", "\(response.expectedContentLength)")
        note("mime", response.mimeType ?? "none")
        note("encoding", response.textEncodingName ?? "none")
        note("suggested", response.suggestedFilename ?? "none")
        guard let response = response as? HTTPURLResponse else { return note("status", "not HTTP") }
        note("status", "\(response.statusCode)")
        // These fields are facts of their own, since Waystation adds them: all other fields must be the same.
        note("age", response.value(forHTTPHeaderField: "Age"))
        note("cache-status", response.value(forHTTPHeaderField: "Cache-Status"))
        note("date", response.value(forHTTPHeaderField: "Date"))
        let fields = response.allHeaderFields.map { "\($0.key): \($0.value)" }
            .filter { field in !["Age:", "Cache-Status:", "Date:"].contains { field.hasPrefix($0) } }
        note("fields", fields.sorted().joined(separator: " | "))
    }

    func note(_ error: (any Error)?) {
        guard let error else { return note("error", "none") }
        note("error", Self.describe(error))
    }

    static func describe(_ error: any Error) -> String {
        let error = error as NSError
        let url = (error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString
        return "\(error.domain) \(error.code)\(url.map { " for \($0)" } ?? "")"
    }

    /// Records the end; a second end is recorded as a call, since there must not be one.
    func end() {
        let waiter = state.withLock { state in
            if state.hasEnded { state.calls.append("ended again") }
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// How often something was seen; it grows while the load makes progress.
    var count: Int { state.withLock(\.count) }

    /// Waits until the load ends; if it never does, ``Stage/watch(_:)`` ends the process.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiter = continuation }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    var observation: Observation {
        state.withLock { state in
            var observation = Observation(state.facts)
            observation["calls"] = state.calls.joined(separator: " > ")
            if observation["bytes"] == nil { observation["bytes"] = state.body.description }
            return observation
        }
    }
}
