import Dispatch
import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delivers a response and its long body from a source to the client of a load.
///
/// A client that keeps the parts gets the body in one piece. A client that passes them on gets it in chunks, only as
/// fast as it takes them, so that memory use stays flat.
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
    let journey: Journey
    let ended: @Sendable (End) -> Void

    /// Starts to deliver.
    ///
    /// Call it on the client's queue.
    func start(_ client: any JourneyClient) {
        read(at: 0, chunk: client.isStreamed ? Self.chunkSize : source.length)
    }

    private func read(at offset: Int, chunk: Int) {
        DispatchQueue.global().async {
            guard !journey.hasEnded else { return }
            guard offset < source.length || offset == 0 else { return end() }
            do {
                let data = try source.read(at: offset, count: min(chunk, source.length - offset))
                let next = offset + data.count
                if offset == 0 { journey.deliver(.response(ResponseHead(response))) }
                guard !data.isEmpty else { return end() }
                journey.deliver(.data(data))
                journey.deliver { client in client.whenPassedOn { read(at: next, chunk: chunk) } }
            } catch {
                fail(
                    URLError(
                        .cannotDecodeRawData,
                        failing: journey.context.request.url,
                        "\(error)",
                        underlying: error
                    ),
                    at: offset
                )
            }
        }
    }

    private func end() {
        ended(.complete)
        journey.deliver(.end(nil))
    }

    private func fail(_ error: URLError, at offset: Int) {
        if offset == 0, journey.restart() { return ended(.restarted(error)) }
        ended(.failed(error))
        journey.deliver(.end(error))
    }
}
