#if Gateway
import Dispatch
import Foundation
import NIOCore
import Waystation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stores the body of a request until it has arrived as a whole, so that it can be sent more than once.
///
/// Files are written on a queue of their own, in order.
final class RequestBodyCollector {
    private let writer: Writer
    private let loop: any EventLoop
    private let maximum: Int
    private var length = 0

    init(_ options: GatewayOptions, on loop: any EventLoop) {
        writer = Writer(options.bodySpool)
        self.loop = loop
        maximum = options.maximumBody.bytes
    }

    /// Stores a part.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - stored: Called on the event loop when the next part may come.
    /// - Throws: A refusal when the body is too large.
    func append(_ part: ByteBuffer, stored: @escaping @Sendable ((any Error)?) -> Void) throws(Refusal) {
        length += part.readableBytes
        guard length <= maximum else { throw .bodyTooLarge }
        writer.append(Data(part.readableBytesView)) { [loop] error in loop.execute { stored(error) } }
    }

    /// Makes the request with the whole body.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - made: Called on the event loop.
    func finish(_ request: URLRequest, made: @escaping @Sendable (URLRequest) -> Void) {
        writer.finish(request) { [loop] request in loop.execute { made(request) } }
    }
}

extension RequestBodyCollector {
    /// A `SpoolWriter` on a serial queue.
    private final class Writer: @unchecked Sendable {
        // `@unchecked`: `writer` is used on `queue` only.
        private var writer: SpoolWriter
        private let queue = DispatchQueue(label: "waystation.gateway.body")

        init(_ spool: BodySpool) { writer = SpoolWriter(spool) }

        func append(_ part: Data, _ done: @escaping @Sendable ((any Error)?) -> Void) {
            queue.async {
                do {
                    try self.writer.append(part)
                    done(nil)
                } catch { done(error) }
            }
        }

        func finish(_ request: URLRequest, _ made: @escaping @Sendable (URLRequest) -> Void) {
            queue.async { made(self.writer.finish(request)) }
        }
    }
}
#endif
