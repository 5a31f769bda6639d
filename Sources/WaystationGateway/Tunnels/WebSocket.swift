#if Gateway
import NIOCore
import NIOHTTP1
import Waystation
import WaystationHTTP
import WaystationStorage
import WaystationFoundation
import WaystationNIO

/// Passes a web socket on to its origin (RFC 6455).
///
/// The rules, the login and the cookie store decide about the request that opens it. The frames are passed on as bytes.
/// It is confined to the event loop of the client's connection.
final class WebSocket {
    private let tunnel: Tunnel
    private let serving: GatewayServing
    private let accepted: GatewayServing.Accepted
    private let head: HTTPRequestHead
    private let client: any Channel

    /// Makes the web socket of a request.
    ///
    /// - Parameters:
    ///   - tunnel: Removes the handlers that speak HTTP with the client.
    ///   - accepted: The request.
    ///   - head: The head as it arrived.
    ///   - client: The client's connection.
    ///   - serving: The parts that all connections share.
    init(
        _ tunnel: Tunnel,
        _ accepted: GatewayServing.Accepted,
        _ head: HTTPRequestHead,
        from client: any Channel,
        _ serving: GatewayServing
    ) {
        self.tunnel = tunnel
        self.accepted = accepted
        self.head = head
        self.client = client
        self.serving = serving
    }

    /// Asks the rules, connects to the origin, and answers the client.
    func open() {
        let loop = client.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        let connection = serving.loads.connect(
            accepted.request,
            sendsUnclaimed: serving.options.forwardsUnclaimed,
            close: { [client] in client.close(promise: nil) },
            { result in loop.execute { bound.value.connect(result) } }
        )
        guard let connection else { return refuse(.unclaimed(accepted.request.url?.absoluteString ?? "")) }
        opened = connection
        client.closeFuture.whenComplete { _ in connection.end() }
    }

    private var opened: ClientConnection?
    /// Whether the bytes of the client and the origin pass.
    private var isJoined = false

    private func connect(_ prepared: Result<URLRequest, any Error>) {
        guard client.isActive else { return }
        switch prepared {
        case .failure(let error): refuse(Refusal(error, for: accepted.request.url))
        case .success(var request):
            request.setValue("websocket", forHTTPHeaderField: "Upgrade")
            request.setValue("Upgrade", forHTTPHeaderField: "Connection")
            let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
            serving.opener.open(request, on: client.eventLoop) { [request] result in
                switch result {
                case .success((let server, let head)): bound.value.begin(server, request, head)
                case .failure(let error): bound.value.refuse(Refusal(error, for: request.url))
                }
            }
        }
    }

    private func begin(_ server: any Channel, _ request: URLRequest, _ head: HTTPRequestHead) {
        guard client.isActive, let opened else { return server.close(promise: nil) }
        let bound = NIOLoopBound(self, eventLoop: client.eventLoop)
        client.closeFuture.whenComplete { _ in
            // The relays of the tunnel pass on first what the client has sent.
            if !bound.value.isJoined { server.close(promise: nil) }
        }
        let opening = WebSocketOpening(on: server, within: TimeAmount(serving.options.requestTimeout)) {
            self.refuse(.noWebSocket(request.url))
        }
        let takeCookies = opened.send(request) { opening.send(head) }
        guard let takeCookies else {
            server.close(promise: nil)
            return refuse(.loggedOut)
        }
        let inputEnd = opening.inputEnd
        opening.receive = { [self] response in
            let head = ResponseHead(response, url: request.url ?? URL(filePath: "/"))
            takeCookies(head)
            let answer = translated(head)
            var bytes = ByteBuffer()
            bytes.write(answer)
            guard response.status == .switchingProtocols else {
                return client.writeAndFlush(IOData.byteBuffer(bytes), promise: nil)
            }
            isJoined = true
            tunnel.join(client, server, opening.handlers, answer: bytes) { [inputEnd] in
                inputEnd.release()
            }
        }
        opening.pass = { [client] part, next in
            client.writeAndFlush(IOData.byteBuffer(part)).whenSuccess { next() }
        }
        opening.end = { [client] isWhole in
            guard isWhole else { return client.close(promise: nil) }
            ResponseWriter(client).end(closes: true)
        }
    }

    /// The head of the origin's response for the client.
    private func translated(_ response: ResponseHead) -> HTTPResponseHead {
        var (head, _, _) = serving.head(response, to: accepted, self.head)
        // The end of the connection ends the body of a response that refuses the web socket.
        head.headers.remove(name: "Transfer-Encoding")
        head.headers.remove(name: "Content-Length")
        if head.status == .switchingProtocols {
            head.headers.replaceOrAdd(name: "Connection", value: "Upgrade")
            head.headers.replaceOrAdd(name: "Upgrade", value: "websocket")
            return head
        }
        return head.saying(closes: true)
    }

    private func refuse(_ refusal: Refusal) {
        opened?.end()
        serving.didRefuse(head, because: refusal)
        guard client.isActive else { return }
        ResponseWriter(client).writeLast(refusal, to: head)
    }
}

extension Refusal {
    fileprivate static func noWebSocket(_ url: URL?) -> Refusal {
        Refusal(
            status: 502,
            message:
                "The origin of \(url?.shown ?? "the web socket") closed the connection, or did "
                + "not answer in time.",
            closes: true
        )
    }

    fileprivate static let loggedOut = Refusal(
        status: 401,
        message: "The user logged out while the web socket was being opened. Open it again.",
        closes: true
    )
}
#endif
