import Dispatch
import Foundation
import FoundationNetworking

/// Delivers a response and its long body from a source to a task.
///
/// A completion handler gets the body in one piece. A delegate gets it in chunks, only as fast as it takes them, so
/// that memory use stays flat.
///
/// The response is delivered with the first bytes: if those cannot be read, nothing has been delivered yet, and the
/// load restarts.
struct BodyPump: Sendable {
    /// Large enough that the cost of the hops between queues does not count, and small enough to hold a few in memory.
    private static let chunkSize = 512 << 10

    enum End: Sendable {
        case complete
        case failed(URLError)
        /// Nothing was delivered; the load restarts.
        case restarted(URLError)
    }

    let response: HTTPURLResponse
    let source: any BodySource
    let load: Load
    let ended: @Sendable (End) -> Void

    /// Starts to deliver.
    ///
    /// Call it on the work queue.
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

    /// Runs `body` on the delegate's queue, after the delegate has taken everything that was delivered.
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
