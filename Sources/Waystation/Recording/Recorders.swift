import Foundation
import Synchronization

/// The recorders of an interceptor: that of its configuration, and those that are added while it runs.
final class Recorders: Sendable {
    private let all: Mutex<[(id: Int, recorder: any ExchangeRecorder)]>
    /// Read first for every load, because most interceptors have no recorder.
    private let count: Atomic<Int>
    private let added = Atomic(0)

    /// Begins with the recorder of the configuration.
    init(_ recorder: (any ExchangeRecorder)?) {
        all = Mutex(recorder.map { [(0, $0)] } ?? [])
        count = Atomic(recorder == nil ? 0 : 1)
    }

    /// The recorder for a load that begins now; nil if no recorder is registered.
    var current: (any ExchangeRecorder)? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        let recorders = all.withLock { $0.map(\.recorder) }
        return recorders.count > 1 ? SeveralRecorders(recorders) : recorders.first
    }

    /// Adds a recorder for the loads that begin from now on, and returns the function that removes it.
    func add(_ recorder: any ExchangeRecorder) -> @Sendable () -> Void {
        let id = added.add(1, ordering: .relaxed).newValue
        all.withLock { $0.append((id, recorder)) }
        count.add(1, ordering: .relaxed)
        return { [weak self] in
            guard let self else { return }
            let isRemoved = all.withLock { all in
                let before = all.count
                all.removeAll { $0.id == id }
                return all.count < before
            }
            if isRemoved { count.subtract(1, ordering: .relaxed) }
        }
    }
}

/// Passes each exchange to several recorders, with no more of its body than each of them collects.
private struct SeveralRecorders: ExchangeRecorder {
    let recorders: [any ExchangeRecorder]

    init(_ recorders: [any ExchangeRecorder]) { self.recorders = recorders }

    var bodyLimit: Int { recorders.map(\.bodyLimit).max() ?? 0 }

    func exchangeDidEnd(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeDidEnd(exchange.cut(to: recorder.bodyLimit)) }
    }

    func exchangeWasCancelled(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeWasCancelled(exchange.cut(to: recorder.bodyLimit)) }
    }
}

extension RecordedExchange {
    /// The exchange with no more of its body than a number of bytes.
    fileprivate func cut(to limit: Int) -> RecordedExchange {
        guard let body, body.count > limit else { return self }
        var exchange = self
        exchange.body = Data(body.prefix(max(0, limit)))
        return exchange
    }
}
