#if NIO
import Foundation
import NIOCore
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Exchange {
    /// Delivers what has arrived.
    ///
    /// It is called at the end of a turn of the loop.
    func deliver() {
        guard let receiver else { return }
        if let report = progress.takeReport() {
            receiver.transportDidSend(report.count, total: report.total, expected: report.expected)
        }
        guard !state.isPaused else { return }
        if let head {
            self.head = nil
            receiver.transportDidReceive(ResponseHead(head, url: url))
        }
        guard deliverBody(to: receiver) else { return }
        deliverEnd(to: receiver)
        continueReading()
    }

    /// - Returns: False if parts are left for the next turn.
    private func deliverBody(to receiver: any TransportReceiver) -> Bool {
        var rest = ArrivedBody.turn
        do {
            while let data = try arrived.next() {
                if !data.isEmpty { receiver.transportDidReceive(data) }
                rest -= data.count
                guard rest <= 0 || data.isEmpty else { continue }
                lastEvent = .now()
                owner.exchangeHasNews(self)
                return false
            }
        } catch let failure as TransportFailure {
            arrived.removeAll()
            failDecoding(failure)
        } catch {
            arrived.removeAll()
            failDecoding(TransportFailure(.unknown, "The body cannot be read: \(error)."))
        }
        return true
    }

    /// A body can turn out to be damaged when its connection has already finished it.
    private func failDecoding(_ failure: TransportFailure) {
        if state.isOver { self.failure = failure } else { fail(failure) }
    }

    private func deliverEnd(to receiver: any TransportReceiver) {
        guard state.isOver, failure != nil || arrived.isComplete else { return }
        self.receiver = nil
        receiver.transportDidEnd(failure?.error(for: url))
        owner.exchangeIsOver(self)
    }

    private func continueReading() {
        guard holdsConnection, arrived.hasRoom, let connection else { return }
        holdsConnection = false
        connection.resume(self)
    }
}
#endif
