import Dispatch
import Foundation
import FoundationNetworking

/// Brings a long body from where it lies to a task: in one piece for a completion handler, in chunks for a
/// delegate, and then only as fast as the delegate takes them, so that memory stays flat.
struct BodyPump: Sendable {
    /// Large enough that the way over the queues does not count, small enough to hold a few.
    private static let chunkSize = 512 << 10

    let source: any BodySource
    let load: Load
    let ended: @Sendable ((any Error)?) -> Void

    /// Starts to deliver; to be called on the work queue, after the response was.
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
            guard offset < source.length else { return end(nil) }
            do {
                let data = try source.read(at: offset, count: min(chunk, source.length - offset))
                let next = offset + data.count
                load.deliver(.data(data), .reached { self.whenCaughtUp { read(at: next, chunk: chunk) } })
            } catch {
                end(
                    URLError(
                        .cannotDecodeRawData,
                        failing: load.task.originalRequest?.url,
                        "\(error)",
                        underlying: error
                    )
                )
            }
        }
    }

    /// Runs `body` when the delegate has taken what was given to it, on its own queue.
    private func whenCaughtUp(_ body: @escaping @Sendable () -> Void) {
        guard load.isStreamed, let session = FoundationInternals.session(of: load.task) else { return body() }
        session.delegateQueue.addOperation { body() }
    }

    private func end(_ error: (any Error)?) {
        load.deliver(.end(error))
        ended(error)
    }
}
