#if Gateway
import Dispatch
import NIOCore
import Waystation
import WaystationFoundation

/// Stores the body of a request, so that it can be sent more than once.
///
/// A body that does not fit in memory, and whose length the client has stated, is sent while it arrives. Any other body
/// is sent when it has arrived as a whole: then its length is known, and some servers take no body without a length.
/// Files are written on a queue of their own, in order.
final class RequestBodyCollector {
    private let writer: Writer
    private let loop: any EventLoop
    private let maximum: Int
    private var length = 0

    /// Makes a collector without bytes.
    ///
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - length: The length that the client has stated, in bytes; nil if it has stated none.
    ///   - options: The largest body, and where bodies are stored.
    ///   - loop: The event loop of the connection.
    init(of request: URLRequest, length: Int?, _ options: GatewayOptions, on loop: any EventLoop) {
        writer = Writer(SpoolWriter(options.bodySpool), request, length)
        self.loop = loop
        maximum = options.maximumBody.bytes
    }

    /// Stores a part.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - stored: Called on the event loop when the next part may come: with the request if it is to be sent before
    ///     the rest of its body has arrived, or with the error that kept the part from being stored.
    /// - Throws: A refusal when the body is too large.
    func append(
        _ part: ByteBuffer,
        stored: @escaping @Sendable (Result<URLRequest?, any Error>) -> Void
    ) throws(Refusal) {
        length += part.readableBytes
        guard length <= maximum else { throw .bodyTooLarge }
        writer.append(Data(part.readableBytesView)) { [loop, writer] result in
            loop.execute {
                stored(result)
                // The client gets this error, not the one of the load that it ends.
                if case .failure(let error) = result { writer.stop(error) }
            }
        }
    }

    /// Notes that the whole body has arrived.
    ///
    /// - Parameter made: Called on the event loop, with the request and its body.
    func finish(_ made: @escaping @Sendable (URLRequest) -> Void) {
        writer.finish { [loop] request in loop.execute { made(request) } }
    }

    /// Notes that the rest of the body will not arrive: sending it fails.
    func stop() { writer.stop(Incomplete()) }
}

extension RequestBodyCollector {
    /// The error of the stream of a body whose rest does not arrive.
    private struct Incomplete: Error, CustomStringConvertible {
        var description: String { "the client has not sent the whole body" }
    }

    /// A `SpoolWriter` on a serial queue.
    private final class Writer: @unchecked Sendable {
        // `@unchecked`: the variables are used on `queue` only.
        private var writer: SpoolWriter
        /// The body of a request that is being sent while it arrives.
        private var begun: SpooledBody?
        private let request: URLRequest
        private let length: Int?
        private let queue = DispatchQueue(label: "waystation.gateway.body")

        init(_ writer: SpoolWriter, _ request: URLRequest, _ length: Int?) {
            self.writer = writer
            self.request = request
            self.length = length
        }

        func append(_ part: Data, _ done: @escaping @Sendable (Result<URLRequest?, any Error>) -> Void) {
            queue.async {
                do {
                    try self.writer.append(part)
                    if let begun = self.begun { return begun.whenTaken { done(.success(nil)) } }
                    let begun = self.length.flatMap { self.writer.begin(self.request, length: $0) }
                    self.begun = begun?.body
                    done(.success(begun?.request))
                } catch { done(.failure(error)) }
            }
        }

        func finish(_ made: @escaping @Sendable (URLRequest) -> Void) {
            queue.async { made(self.writer.finish(self.request)) }
        }

        func stop(_ error: any Error) { queue.async { self.begun?.stop(error) } }
    }
}
#endif
