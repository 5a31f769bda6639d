#if Gateway
import Foundation
import NIOHTTP1
import WaystationFileSystem

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The mark of the requests that a gateway sends to itself, because its environment names the gateway as the proxy.
///
/// A proxy recognises such a loop by the field `Via` (RFC 9110 §7.6.3). Some origins answer otherwise if a request has
/// this field: nginx, for example, does not compress then. So only requests to a proxy at the gateway's own port get it:
/// the name of such a proxy may be one of this machine that only a resolver knows.
struct LoopMark: Sendable {
    /// The name of this gateway, which no other one has.
    private let name = "waystation-\(RandomName.make())"

    /// The value of `Via`.
    var field: String { "1.1 " + name }

    /// Adds the mark to a request.
    func add(to request: inout URLRequest) {
        let earlier = request.value(forHTTPHeaderField: "Via").map { $0 + ", " } ?? ""
        request.setValue(earlier + field, forHTTPHeaderField: "Via")
    }

    /// Whether the gateway has sent a request to itself.
    func isIn(_ head: HTTPRequestHead) -> Bool { head.headers["Via"].contains { $0.contains(name) } }
}
#endif
