#if Gateway
import Foundation
import HTTPTypes
import NIOHTTP1

/// Makes the fields of the gateway's response from those of a load's response.
///
/// Values that name an origin name the gateway instead, where the gateway would serve the URL; fields that would forbid
/// the browser to use plain http are left out.
struct ResponseTranslation: Sendable {
    let names: LocalNames
    /// Whether the browser asked by the name of an origin; false when it asked by the origin's own URL, as of a proxy.
    let isNamed: Bool
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    private static let dropped = FieldNames.hopByHop.union(["content-length", "set-cookie", "set-cookie2"])
    /// They would make a browser leave plain http, or the gateway's port.
    private static let droppedOfNames: Set<String> = [
        "strict-transport-security", "alt-svc", "public-key-pins", "expect-ct",
    ]

    /// The fields without `Set-Cookie` and without the framing.
    ///
    /// - Parameters:
    ///   - fields: One value for each name.
    ///   - isCoded: Whether the body was decoded on its way, so that the fields describe other bytes.
    /// - Returns: The fields.
    func fields(_ fields: [String: String], isCoded: Bool) -> HTTPHeaders {
        let connection = fields.first { $0.key.lowercased() == "connection" }.map { [$0.value] } ?? []
        let dropped = Self.dropped.union(FieldNames.named(by: connection))
        var headers = HTTPHeaders()
        headers.reserveCapacity(fields.count + 2)
        for (name, value) in fields {
            let lowered = name.lowercased()
            guard !dropped.contains(lowered), !(isCoded && lowered == "content-encoding"), Self.isValid(name, value)
            else { continue }
            guard isNamed else {
                headers.add(name: name, value: value)
                continue
            }
            guard !Self.droppedOfNames.contains(lowered) else { continue }
            headers.add(name: name, value: translated(value, of: lowered))
        }
        return headers
    }

    /// Whether a field may be sent (RFC 9110 §5.5); Foundation passes on others.
    private static func isValid(_ name: String, _ value: String) -> Bool {
        HTTPField.Name(name) != nil && HTTPField.isValidValue(value)
    }

    private func translated(_ value: String, of name: String) -> String {
        switch name {
        case "location", "content-location": local(value) ?? value
        case "refresh": refresh(value)
        case "access-control-allow-origin": anyOrigin(value)
        case "content-security-policy", "content-security-policy-report-only":
            ContentSecurityPolicy.local(value) { anyOrigin($0) }
        default: value
        }
    }

    /// The gateway's URL, if a rule takes the URL.
    private func local(_ url: String) -> String? { isServed(url) ? names.local(url) : nil }

    /// The gateway's name for an origin; the text itself if it names none.
    private func anyOrigin(_ text: String) -> String { names.local(text) ?? text }

    /// The value of `Refresh`: seconds, and a URL (HTML §2.5.7).
    private func refresh(_ value: String) -> String {
        guard let mark = value.range(of: "url=", options: .caseInsensitive) else { return value }
        let target = value[mark.upperBound...].trimmingCharacters(in: CharacterSet(charactersIn: " '\""))
        return local(target).map { value[..<mark.upperBound] + $0 } ?? value
    }
}
#endif
