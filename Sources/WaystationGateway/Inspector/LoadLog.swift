#if Gateway
import Synchronization
import Waystation
import WaystationFoundation
import WaystationRecording

/// The latest loads of an interceptor: of its sessions and of the gateway's browsers.
///
/// It keeps at most ``limit`` loads, at most ``byteLimit`` bytes of their URLs and fields, and the beginnings of the last
/// ``bodyCount`` bodies of responses. Readers take loads by their numbers, so a slow reader costs no memory: loads that
/// are removed before it asks are counted as missed.
final class LoadLog: ExchangeRecorder {
    /// A load with its number; numbers begin with 1 and rise by 1.
    struct Load: Sendable {
        enum Ending: Sendable {
            /// The load got its whole answer, or an error.
            case ended
            /// The browser or the app has cancelled the load.
            case cancelled
            /// The gateway did not serve the request, for this reason.
            case refused(String)
        }

        let number: Int
        var exchange: RecordedExchange
        var ending = Ending.ended
    }

    /// The loads that a reader has not taken yet.
    struct News: Sendable {
        var loads: [Load]
        /// How many loads were gone before the reader came.
        var missed: Int
        /// How often the log has been cleared.
        var clears: Int
        /// Whether the reader has loads that were cleared.
        var isStale: Bool
    }

    static let limit = 1_000
    static let byteLimit = 8 << 20
    static let bodyCount = 100

    private struct State {
        var loads: [Int: (load: Load, bytes: Int)] = [:]
        var bytes = 0
        /// The number of the oldest load that is kept, and of the next one.
        var first = 1
        var next = 1
        var clears = 0
        /// The first number after the last clearing: loads before it were removed on purpose.
        var clearedUpTo = 1
        var readers: [Int: @Sendable () -> Void] = [:]
        var lastReader = 0

        var count: Int { next - first }
    }

    let bodyLimit = 32 << 10
    private let state = Mutex(State())

    func exchangeDidEnd(_ exchange: RecordedExchange) { add(exchange, .ended) }

    func exchangeWasCancelled(_ exchange: RecordedExchange) { add(exchange, .cancelled) }

    /// Adds a request that the gateway refused.
    func add(refused exchange: RecordedExchange, because reason: String) { add(exchange, .refused(reason)) }

    private func add(_ exchange: RecordedExchange, _ ending: Load.Ending) {
        var exchange = exchange
        // A copy, because the body may share the memory of a much longer one.
        exchange.body = exchange.body.map { Data([UInt8]($0)) }
        exchange.request.httpBody = nil
        exchange.request.httpBodyStream = nil
        let bytes = exchange.headBytes
        let readers = state.withLock { state in
            let load = Load(number: state.next, exchange: exchange, ending: ending)
            state.loads[state.next] = (load, bytes)
            state.loads[state.next - Self.bodyCount]?.load.exchange.body = nil
            state.next += 1
            state.bytes += bytes
            while state.count > Self.limit || (state.bytes > Self.byteLimit && state.count > 1) {
                state.bytes -= state.loads.removeValue(forKey: state.first)?.bytes ?? 0
                state.first += 1
            }
            return state.readers.values.map(\.self)
        }
        for wake in readers { wake() }
    }

    /// Removes all loads.
    func clear() {
        let readers = state.withLock { state in
            state.loads = [:]
            state.bytes = 0
            state.first = state.next
            state.clearedUpTo = state.next
            state.clears += 1
            return state.readers.values.map(\.self)
        }
        for wake in readers { wake() }
    }

    /// The load with a number; nil if it is gone.
    func load(_ number: Int) -> Load? { state.withLock { $0.loads[number]?.load } }

    /// All loads, the oldest first.
    var all: [Load] { news(after: 0, limit: .max).loads }

    /// The loads after a number, the oldest first.
    func news(after number: Int, limit: Int) -> News {
        state.withLock { state in
            // A reader can name any number.
            let number = min(max(number, 0), state.next - 1)
            let start = max(number + 1, state.first)
            let end = min(state.next, start.addingReportingOverflow(limit).overflow ? .max : start + limit)
            return News(
                loads: start < end ? (start..<end).compactMap { state.loads[$0]?.load } : [],
                missed: max(0, state.first - max(number + 1, state.clearedUpTo)),
                clears: state.clears,
                isStale: number > 0 && number < state.clearedUpTo
            )
        }
    }

    /// Calls a function whenever there is something new; it must return at once.
    ///
    /// - Returns: The function that ends this.
    func listen(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let reader = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = wake
            return state.lastReader
        }
        return { [weak self] in self?.state.withLock { $0.readers[reader] = nil } }
    }
}

extension RecordedExchange {
    /// The bytes of its URLs and fields.
    fileprivate var headBytes: Int {
        let sent = (request.allHTTPHeaderFields ?? [:]).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        let received = (response?.allHeaderFields as? [String: String] ?? [:]).reduce(0) {
            $0 + $1.key.utf8.count + $1.value.utf8.count
        }
        return sent + received + 2 * (request.url?.absoluteString.utf8.count ?? 0) + 512
    }
}

/// The latest events of an interceptor that are not the end of a load: of the cache, the packs, logins and cookies.
final class EventLog: Sendable {
    /// An event as the page lists it.
    struct Row: Encodable, Sendable {
        let time: Date
        let text: String
        let isTrouble: Bool
    }

    static let limit = 500

    private let rows = Mutex<[Row]>([])

    /// The events, the latest first.
    var latest: [Row] { rows.withLock { $0.reversed() } }

    func add(_ event: LoadEvent, at time: Date) {
        switch event.kind {
        case .degraded, .store, .source, .login, .cookies: break
        default: return
        }
        var event = event
        // The events in this log are not about one load, so they have no URL.
        event.url = nil
        let row = Row(time: time, text: Redaction.standard.text(event.description), isTrouble: event.kind.isTrouble)
        rows.withLock { rows in
            rows.append(row)
            if rows.count > Self.limit { rows.removeFirst() }
        }
    }
}
#endif
