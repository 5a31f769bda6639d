#if NIO
import Foundation
import NIOCore

/// A request as it is sent, and where it is sent to.
struct ComposedRequest: Sendable {
    var url: URL
    var origin: Origin
    var head: EngineRequestHead
    var body: RequestBody
    /// The time for which nothing may happen before the exchange fails.
    var timeout: TimeAmount
}
#endif
