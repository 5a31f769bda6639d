#if Gateway
/// Explains the value of a `Cache-Status` field (RFC 9211) to people.
enum CacheStatusWords {
    /// The value of a `Cache-Status` field in words.
    ///
    /// - Parameter field: The value.
    /// - Returns: A sentence about Waystation's own member; empty if the field has none.
    static func words(_ field: String) -> String {
        guard let member = OwnCacheStatus.member(of: field) else { return "" }
        let parts = parameters(of: member)
        var values: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = pair.first else { continue }
            values[name] = pair.count == 2 ? pair[1] : ""
        }
        var words = values["hit"] != nil ? "Answered without the network" : forwarded(values)
        if let seconds = values["ttl"].flatMap({ Int($0) }) {
            let span = span(seconds.magnitude)
            words += seconds > 0 ? "; fresh for \(span) more" : "; stale since \(span)"
        }
        if let detail = values["detail"] { words += " (\(detail))" }
        return words + "."
    }

    private static func forwarded(_ values: [String: String]) -> String {
        let reason =
            switch values["fwd"] {
            case "bypass"?: "The rule does not use the cache"
            case "method"?: "Requests with this method are always sent to the origin"
            case "uri-miss"?: "Nothing was stored for the URL"
            case "vary-miss"?: "Only responses for other request fields were stored"
            case "miss"?: "No stored response could be used"
            case "request"?: "The request did not allow the stored response"
            case "stale"?: "The stored response was stale"
            case "partial"?: "The stored response had only a part"
            case let other?: "The request was forwarded: \(other)"
            case nil: "The cache gave no reason"
            }
        var words = reason + ", so the origin was asked"
        if values["fwd-status"] == nil, values["ttl"] != nil { words += "; it gave no answer" }
        if values["fwd-status"] == "304" { words += "; the stored response is still valid" }
        if values["stored"] != nil { words += "; the response was stored" }
        if values["collapsed"] != nil { words += "; it shared a request that was under way" }
        return words
    }

    /// A time in words.
    private static func span(_ seconds: UInt) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// The parts of a member between semicolons that are outside of quotes.
    private static func parameters(of member: Substring) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in member {
            if character == ";", !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }
}
#endif
