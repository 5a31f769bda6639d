#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Synchronization
import Waystation

@testable import WaystationNIO

/// A receiver that records every call.
final class Recorder: TransportReceiver {
    /// The calls that a receiver got for one load.
    struct Outcome: Sendable {
        var status: Int?
        var fields: [String: String] = [:]
        var body = Data()
        var partCount = 0
        var sent: [(count: Int64, total: Int64, expected: Int64)] = []
        var error: URLError?
        var hasEnded = false
        /// Calls that came after the end, or a second head.
        var wrongCalls = 0

        var text: String { String(decoding: body, as: UTF8.self) }
        var code: URLError.Code? { error?.code }
    }

    private struct State {
        var outcome = Outcome()
        var waiting: [(condition: @Sendable (Outcome) -> Bool, continuation: CheckedContinuation<Outcome, Never>)] = []
    }

    private let state = Mutex(State())
    private let onPart: @Sendable () -> Void

    /// - Parameter onPart: Called on the event loop when a part of the body was recorded.
    init(onPart: @escaping @Sendable () -> Void = {}) { self.onPart = onPart }

    var outcome: Outcome { state.withLock { $0.outcome } }

    /// Waits for the end of the load.
    func end() async -> Outcome { await until { $0.hasEnded } }

    /// Waits until the outcome meets a condition.
    func until(_ condition: @escaping @Sendable (Outcome) -> Bool) async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome: Outcome? = state.withLock { state in
                if condition(state.outcome) { return state.outcome }
                state.waiting.append((condition, continuation))
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    private func record(_ change: (inout Outcome) -> Void) {
        let (outcome, ready) = state.withLock { state in
            if state.outcome.hasEnded { state.outcome.wrongCalls += 1 }
            change(&state.outcome)
            let outcome = state.outcome
            let ready = state.waiting.filter { $0.condition(outcome) }.map(\.continuation)
            state.waiting.removeAll { $0.condition(outcome) }
            return (outcome, ready)
        }
        for continuation in ready { continuation.resume(returning: outcome) }
    }

    func transportDidReceive(_ head: ResponseHead) {
        record { outcome in
            if outcome.status != nil { outcome.wrongCalls += 1 }
            outcome.status = head.statusCode
            for (name, value) in head.fields { outcome.fields["\(name)"] = "\(value)" }
        }
    }

    func transportDidReceive(_ part: Data) {
        record { outcome in
            if outcome.status == nil { outcome.wrongCalls += 1 }
            outcome.body.append(part)
            outcome.partCount += 1
        }
        onPart()
    }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        record { $0.sent.append((count, total, expected)) }
    }

    func transportDidEnd(_ error: (any Error)?) {
        record { outcome in
            outcome.error = error.map { $0 as? URLError ?? URLError(.callIsActive) }
            outcome.hasEnded = true
        }
    }
}

extension NIOTransport {
    /// A transport without decoders, proxies or HTTP/2.
    static func plain(
        configuration: URLSessionConfiguration = .ephemeral,
        continueTimeout: TimeAmount = .seconds(1),
        _ change: (inout NIOOptions) -> Void = { _ in }
    ) -> NIOTransport {
        var options = NIOOptions()
        options.environment = [:]
        change(&options)
        return NIOTransport(configuration: configuration, options: options, parts: EngineParts()) {
            $0.continueTimeout = continueTimeout
        }
    }

    /// Performs a request and waits for its end.
    func load(_ request: URLRequest) async -> Recorder.Outcome {
        let recorder = Recorder()
        _ = start(request, receiver: recorder)
        return await recorder.end()
    }

    func load(_ url: String) async -> Recorder.Outcome { await load(URLRequest(url)) }
}

extension URLRequest {
    /// A request for a URL that is valid.
    init(_ url: String, _ change: (inout URLRequest) -> Void = { _ in }) {
        self.init(url: URL(string: url) ?? URL(fileURLWithPath: "/invalid/\(url)"))
        change(&self)
    }
}
#endif
