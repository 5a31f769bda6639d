#if NIO
import Foundation
import NIOCore
import NIOEmbedded
import Testing
import Waystation

@testable import WaystationNIO

@Suite("A connection that an exchange holds back")
struct HoldingTests {
    @Test("goes on when all parts were delivered, also if one arrived between two deliveries", arguments: [0, 1, 3])
    func lateParts(count: Int) throws {
        let url = try #require(URL(string: "http://a.example/"))
        let origin = Origin(isSecure: false, host: "a.example", port: 80)
        let order = ExchangeOrder(
            id: ExchangeID(number: 1),
            request: ComposedRequest(
                url: url,
                origin: origin,
                head: EngineRequestHead(
                    method: "GET",
                    scheme: "http",
                    authority: "a.example",
                    target: "/",
                    fields: [],
                    framing: .none
                ),
                body: .none,
                timeout: .seconds(60)
            ),
            receiver: Recorder()
        )
        let (owner, connection) = (Owner(), Connection())
        let exchange = Exchange(
            order,
            owner: owner,
            loop: EmbeddedEventLoop(),
            limits: NIOOptions.Limits(),
            makeDecoder: nil,
            now: .now()
        )
        #expect(exchange.begin(on: ConnectionID(number: 1), isReused: false))
        exchange.connection = connection
        exchange.take(EngineResponseHead(status: 200, fields: []))
        // More than one turn of the loop delivers, so the exchange looks in the next turn for more.
        #expect(!exchange.take(ByteBuffer(repeating: 0, count: ArrivedBody.turn + 1)))
        exchange.deliver()
        #expect(connection.resumes == 0)
        for _ in 0..<count { #expect(!exchange.take(ByteBuffer(repeating: 0, count: 10))) }
        exchange.deliver()
        #expect(connection.resumes == 1)
        #expect(exchange.take(ByteBuffer(repeating: 0, count: 10)))
    }

    private final class Owner: ExchangeOwner {
        func exchangeHasNews(_ exchange: Exchange) {}
        func exchange(_ exchange: Exchange, mustLeave leave: ExchangeState.Leave) {}
        func exchange(_ exchange: Exchange, didEndOn connection: ConnectionID) {}
        func exchangeRequiresHTTP1(_ exchange: Exchange) -> Bool { false }
        func exchangeMustRetry(_ exchange: Exchange, lostOn connection: ConnectionID?, after pause: TimeAmount) {}
        func exchangeIsOver(_ exchange: Exchange) {}
        func exchangeHasDeadline(_ exchange: Exchange) {}
    }

    private final class Connection: ExchangeConnection {
        var resumes = 0

        func begin(_ exchange: any ConnectionExchange) {}
        func cancel(_ exchange: any ConnectionExchange) {}
        func resume(_ exchange: any ConnectionExchange) { resumes += 1 }
        func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange) {}
        func closeWhenIdle() {}
    }
}
#endif
