#if Gateway
import Foundation
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes the request to the origin from a browser's request to the gateway.
struct RequestTranslation: Sendable {
    let names: LocalNames
    /// The longest silence between two events of a stream, in seconds: a browser sets no limit (HTML §9.2).
    ///
    /// A session's own limit, a minute by default, would end a stream of rare events again and again.
    let silenceBetweenEvents: TimeInterval
    /// Whether the fields that say for whom a proxy asks reach the origin.
    var passesForwardedFields = false

    /// The fields that are about the connection to the gateway, about the form in which the gateway itself gets the
    /// body, or that the transport writes.
    private static let dropped = FieldNames.hopByHop.union([
        "host", "content-length", "accept-encoding", "expect", "upgrade-insecure-requests",
    ])

    /// Whether a field says for whom a proxy asks (RFC 7239, and the fields before it).
    private static func saysForWhom(_ name: String) -> Bool {
        name == "forwarded" || name.hasPrefix("x-forwarded") || name == "x-real-ip"
    }

    /// The request without its body.
    ///
    /// - Parameters:
    ///   - head: The head as it arrived.
    ///   - target: The resource.
    /// - Returns: The request; the spelling of its values is that of the origin's own URLs.
    func request(_ head: HTTPRequestHead, for target: URL) -> URLRequest {
        var request = URLRequest(url: target)
        // Setting a method takes longer than the rest for a request without fields.
        if head.method != .GET { request.httpMethod = head.method.rawValue }
        let named = FieldNames.named(by: head.headers["Connection"])
        for (name, value) in head.headers {
            let lowered = name.lowercased()
            guard !Self.dropped.contains(lowered), !named.contains(lowered),
                passesForwardedFields || !Self.saysForWhom(lowered)
            else { continue }
            switch lowered {
            case "origin", "referer": request.setValue(names.remote(value) ?? value, forHTTPHeaderField: name)
            // A browser may split its cookies over several fields.
            case "cookie":
                let earlier = request.value(forHTTPHeaderField: name).map { $0 + "; " } ?? ""
                request.setValue(earlier + value, forHTTPHeaderField: name)
            case "accept":
                // The value that an `EventSource` sends.
                if head.method == .GET, value == "text/event-stream" { request.timeoutInterval = silenceBetweenEvents }
                request.addValue(value, forHTTPHeaderField: name)
            default: request.addValue(value, forHTTPHeaderField: name)
            }
        }
        return request
    }
}
#endif
