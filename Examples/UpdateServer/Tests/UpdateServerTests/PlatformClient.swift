import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import Testing

@testable import UpdateServer

/// The answer of a server.
struct ServerAnswer: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: ByteBuffer
}

/// Sends requests over one connection.
///
/// `URLSession` would change the paths, and choose the connections itself.
struct PlatformClient: Sendable {
    /// The port of loopback to which the client is connected.
    let port: UInt16
    private let connection: any Channel

    // A busy machine may need minutes for an answer. A server that never answers must not hold up the tests for ever.
    private static let limit = TimeAmount.minutes(10)

    /// The error of a request that was not answered in time.
    private struct NoAnswer: Error {}

    /// Asks the server at a port of loopback, which may stand before the platform's server.
    static func connected<Value: Sendable>(
        to port: UInt16,
        _ questions: @Sendable (PlatformClient) async throws -> Value
    ) async throws -> Value {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(limit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandlers(HTTP1ToHTTPClientCodec(), Conversation())
                }
            }
            .connect(host: "127.0.0.1", port: Int(port)).get()
        defer { connection.close(promise: nil) }
        return try await questions(PlatformClient(port: port, connection: connection))
    }

    /// Sends a request, and waits for its answer.
    ///
    /// A body is sent with its length, unless the fields have a `Transfer-Encoding`.
    func execute(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields = [:],
        body: ByteBuffer? = nil
    ) async throws -> ServerAnswer {
        var fields = headers
        if let body, fields[.transferEncoding] == nil { fields[.contentLength] = "\(body.readableBytes)" }
        let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: uri, headerFields: fields)
        let answer = connection.eventLoop.makePromise(of: ServerAnswer.self)
        let limit = connection.eventLoop.scheduleTask(in: Self.limit) { answer.fail(NoAnswer()) }
        defer { limit.cancel() }
        // A connection that is already closed passes nothing on to its handlers.
        let question = Conversation.Question(head: head, body: body, answer: answer)
        connection.writeAndFlush(question).cascadeFailure(to: answer)
        return try await answer.futureResult.get()
    }
}

extension UpdateServer {
    /// Runs the server while a test asks it over a connection.
    func ask<Value: Sendable>(
        _ questions: @Sendable (PlatformClient) async throws -> Value
    ) async throws -> Value {
        let server = try await RunningServer(self)
        do {
            let port = try #require(server.url.port.flatMap { UInt16(exactly: $0) })
            let value = try await PlatformClient.connected(to: port, questions)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }
}

/// Writes the requests of a connection, and gives them their answers, in the same order.
private final class Conversation: ChannelDuplexHandler {
    typealias InboundIn = HTTPResponsePart
    typealias OutboundIn = Question
    typealias OutboundOut = HTTPRequestPart

    struct Question {
        let head: HTTPRequest
        let body: ByteBuffer?
        let answer: EventLoopPromise<ServerAnswer>
    }

    private var unanswered: [EventLoopPromise<ServerAnswer>] = []
    private var head: HTTPResponse?
    private var body = ByteBuffer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let question = unwrapOutboundIn(data)
        unanswered.append(question.answer)
        context.write(wrapOutboundOut(.head(question.head)), promise: nil)
        if let body = question.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(var part): body.writeBuffer(&part)
        case .end:
            guard let head, !unanswered.isEmpty else { return }
            unanswered.removeFirst()
                .succeed(ServerAnswer(status: head.status, headers: head.headerFields, body: body))
            (self.head, body) = (nil, ByteBuffer())
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    private func fail(_ error: any Error) {
        for answer in unanswered { answer.fail(error) }
        unanswered = []
    }
}
