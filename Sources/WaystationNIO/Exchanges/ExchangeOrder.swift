#if NIO
import Foundation
import WaystationTransport

/// An exchange that an app has started, on its way to the event loop.
struct ExchangeOrder: Sendable {
    var id: ExchangeID
    var request: ComposedRequest
    var receiver: any TransportReceiver
}
#endif
