#if NIO
import NIOCore
import NIOSSL
import NIOTLS

/// Reports the end of a TLS handshake, and reads until then.
final class HandshakeObserver: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var completion: ((Result<String?, any Error>) -> Void)?

    /// - Parameter completion: Gets the protocol that the server chose, or the error, once.
    init(_ completion: @escaping (Result<String?, any Error>) -> Void) { self.completion = completion }

    func handlerAdded(context: ChannelHandlerContext) { context.read() }

    func channelReadComplete(context: ChannelHandlerContext) {
        if completion != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            finish(.success(negotiated))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard completion != nil else { return context.fireErrorCaught(error) }
        finish(.failure(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(ChannelError.eof))
        context.fireChannelInactive()
    }

    private func finish(_ result: Result<String?, any Error>) {
        let completion = self.completion
        self.completion = nil
        completion?(result)
    }
}
#endif
