#if Gateway
import Foundation
import NIOCore
import NIOHTTP1
import Waystation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension GatewayServing {
    /// The response to a request whose bytes have arrived before; nil if it must be parsed.
    ///
    /// The load has ended then, and the response is to be written.
    func repeatedResponse(to request: ByteBuffer) -> ByteBuffer? {
        let key = RepeatedRequests.Key(request: request, origin: targets.secured)
        guard let entry = repeated.entry(of: key) else { return nil }
        if loads.repeats(entry.load) { return entry.response }
        repeated.remove(key)
        return nil
    }

    /// Remembers a load that was answered at once, if the same bytes get the same response from the same answer.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - accepted: The request.
    ///   - head: Its head.
    ///   - arrived: Its bytes.
    func remember(_ load: AnsweredLoad, _ accepted: Accepted, _ head: HTTPRequestHead, as arrived: ByteBuffer) {
        // The cookies of a browser and those of the app are compared with each request.
        guard browsers == nil, loads.hasLastingRules, arrived.readableBytes <= RepeatedRequests.requestLimit,
            load.body.count <= RepeatedRequests.responseLimit
        else { return }
        let (response, framing, rewriter) = self.head(ResponseHead(load.response), to: accepted, head)
        let isWhole =
            switch framing {
            case .none: true
            case .length(let length): length == load.body.count
            case .chunked, .close: false
            }
        guard isWhole, rewriter == nil, load.response.statusCode >= 200 else { return }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(1_024 + load.body.count)
        bytes.write(response.saying(closes: false))
        if framing != .none { bytes.writeBytes(load.body) }
        repeated.add(
            RepeatedRequests.Entry(load: load, response: bytes),
            // A copy, because the buffer of the socket is longer.
            for: RepeatedRequests.Key(request: ByteBuffer(bytes: arrived.readableBytesView), origin: targets.secured)
        )
    }
}
#endif
