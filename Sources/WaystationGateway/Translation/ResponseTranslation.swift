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

    /// The fields without `Set-Cookie` and without the framing.
    ///
    /// - Parameters:
    ///   - fields: One value for each name.
    ///   - isCoded: Whether the body was decoded on its way, so that the fields describe other bytes.
    /// - Returns: The fields.
    func fields(_ fields: [String: String], isCoded: Bool) -> HTTPHeaders {
        let fields = ResponseField.known(fields)
        let connection = fields.first { $0.field.lowered == "connection" }
        let named = connection.map { FieldNames.named(by: [$0.value]) } ?? []
        var headers = HTTPHeaders()
        headers.reserveCapacity(fields.count + 2)
        for (field, name, value) in fields {
            guard field.isSent(toNames: isNamed), !named.contains(field.lowered),
                !(isCoded && field.lowered == "content-encoding"), HTTPField.isValidValue(value)
            else { continue }
            headers.add(name: name, value: isNamed ? translated(value, of: field.lowered) : value)
        }
        return headers
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
