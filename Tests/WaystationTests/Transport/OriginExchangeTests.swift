import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTesting

@testable import Waystation

@Suite("An exchange with the origin")
struct OriginExchangeTests {
    @Test("cancels the repetition of a request whose connection was dropped before the exchange was returned")
    func repeated() throws {
        let transport = DroppingTransport()
        let exchange = OriginExchange.start(
            try URLRequest("GET", "https://a.example/"),
            through: transport,
            cookies: nil,
            receiver: IgnoringReceiver()
        )
        exchange.cancel()
        #expect(transport.log.withLock { $0 } == ["send 1", "send 2", "cancel 2"])
    }
}

/// A transport whose first exchange ends with a dropped connection within `start`.
private final class DroppingTransport: Transport {
    let log = Mutex<[String]>([])

    private struct Exchange: TransportExchange {
        let number: Int
        let transport: DroppingTransport

        func cancel() { transport.log.withLock { $0.append("cancel \(number)") } }
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let number = log.withLock { log in
            log.append("send \(log.count + 1)")
            return log.count
        }
        if number == 1 { receiver.transportDidEnd(URLError(.networkConnectionLost)) }
        return Exchange(number: number, transport: self)
    }
}

private struct IgnoringReceiver: TransportReceiver {
    func transportDidReceive(_: ResponseHead) {}
    func transportDidReceive(_: Data) {}
    func transportDidEnd(_: (any Error)?) {}
}
