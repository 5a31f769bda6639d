import Dispatch
import Foundation
import FoundationNetworking

/// Brings a response and its long body from where it lies to a task: in one piece for a completion handler, in chunks
/// for a delegate, and then only as fast as the delegate takes them, so that memory stays flat.
///
/// The response is told with the first bytes: where those cannot be read nothing was told, and the load is made anew.
struct BodyPump: Sendable {
    /// Large enough that the way over the queues does not count, small enough to hold a few.
    private static let chunkSize = 512 << 10

    enum End: Sendable {
        case complete
        case failed(URLError)
        /// Nothing was told; the load goes another way.
        case restarted(URLError)
    }

    let response: HTTPURLResponse
    let source: any BodySource
    let load: Load
    let ended: @Sendable (End) -> Void

    /// Starts to deliver; to be called on the work queue.
    func start() {
        if load.isStreamed {
            read(at: 0, chunk: Self.chunkSize)
        } else {
            read(at: 0, chunk: source.length)
        }
    }

    private func read(at offset: Int, chunk: Int) {
        DispatchQueue.global().async {
            guard !load.hasEnded else { return }
            guard offset < source.length || offset == 0 else { return end() }
            do {
                let data = try source.read(at: offset, count: min(chunk, source.length - offset))
                let next = offset + data.count
                if offset == 0 { load.deliver(.response(response)) }
                guard !data.isEmpty else { return end() }
                load.deliver(.data(data), .reached { self.whenCaughtUp { read(at: next, chunk: chunk) } })
            } catch {
                fail(
                    URLError(
                        .cannotDecodeRawData,
                        failing: load.task.originalRequest?.url,
                        "\(error)",
                        underlying: error
                    ),
                    at: offset
                )
            }
        }
    }

    /// Runs `body` when the delegate has taken what was given to it, on its own queue.
    private func whenCaughtUp(_ body: @escaping @Sendable () -> Void) {
        guard load.isStreamed, let session = FoundationInternals.session(of: load.task) else { return body() }
        session.delegateQueue.addOperation { body() }
    }

    private func end() {
        ended(.complete)
        load.deliver(.end(nil))
    }

    private func fail(_ error: URLError, at offset: Int) {
        if offset == 0, load.restart() { return ended(.restarted(error)) }
        ended(.failed(error))
        load.deliver(.end(error))
    }
}
