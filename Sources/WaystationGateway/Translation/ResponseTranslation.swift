#if Gateway
import Foundation
import NIOHTTP1
import WaystationFields

/// Makes the fields of the gateway's response from those of a load's response.
///
/// Values that name an origin name the gateway instead, where the gateway would serve the URL. Other URLs without a
/// scheme get that of their origin. Fields that would forbid the browser to use plain http are left out.
struct ResponseTranslation: Sendable {
    /// The URLs that the fields name.
    let links: Links
    /// Whether the browser asked by the name of an origin; false when it asked by the origin's own URL, as of a proxy.
    let isNamed: Bool
    /// Whether the links of pages lead to the gateway, so that those of the field `Link` do, too.
    let rewritesLinks: Bool

    /// The fields without `Set-Cookie` and without the framing.
    ///
    /// - Parameters:
    ///   - fields: One value for each name, with its bytes as `FieldText` holds them.
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
                !(isCoded && field.lowered == "content-encoding")
            else { continue }
            headers.add(name: name, value: isNamed ? translated(value, of: field.lowered) : value)
        }
        return headers
    }

    private func translated(_ value: String, of name: String) -> String {
        switch name {
        case "location", "content-location": local(value)
        case "link" where rewritesLinks: replaced(value) { LinkField.targets(in: $0.bytes) }
        case "refresh": replaced(value) { LinkValue.refresh($0.bytes).map { [$0] } ?? [] }
        case "access-control-allow-origin": anyOrigin(value)
        case "content-security-policy", "content-security-policy-report-only":
            ContentSecurityPolicy.local(value, links)
        default: value
        }
    }

    /// The gateway's URL if a rule takes the URL; otherwise a URL that means at the gateway what it means at its origin.
    private func local(_ url: String) -> String { replaced(url) { [$0.bytes.indices] } }

    /// A text with the URLs replaced that are at some places, which are in order.
    private func replaced(_ text: String, at places: (MappedBytes) -> [Range<Int>]) -> String {
        let bytes = MappedBytes(FieldText.bytes(of: text), at: 0)
        let edits = places(bytes).compactMap { links.edit(bytes, $0) }
        guard !edits.isEmpty else { return text }
        var result = RewrittenText()
        bytes.bytes.withUnsafeBufferPointer { text in
            for edit in edits { result.apply(edit, to: text) }
            result.pass(to: text.count, of: text)
        }
        return FieldText.text(of: result.bytes)
    }

    /// The gateway's name for an origin; the text itself if it names none.
    private func anyOrigin(_ text: String) -> String { links.names.local(text) ?? text }
}
#endif
