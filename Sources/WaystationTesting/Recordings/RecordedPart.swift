import Foundation
import WaystationRules

/// A part of a request that a recorded request must have in common with it.
///
/// Secrets are compared as they are recorded: `?token=a` and `?token=b` are equal, because both are left out.
public struct RecordedPart: Sendable {
    let name: String
    let value: @Sendable (ComparedRequest) -> String

    /// The method.
    public static let method = RecordedPart(name: "method") { $0.method }
    /// The whole URL, in canonical form.
    public static let url = RecordedPart(name: "URL") { canonical($0.url) }
    /// The URL without these items of its query, such as a time or a random number.
    public static func url(without items: Set<String>) -> RecordedPart {
        RecordedPart(name: "URL") { request in
            guard var parts = URLComponents(string: canonical(request.url)) else { return request.url }
            let kept = parts.percentEncodedQueryItems?.filter {
                !items.contains($0.name.removingPercentEncoding ?? $0.name)
            }
            parts.percentEncodedQueryItems = kept?.isEmpty ?? true ? nil : kept
            return parts.string ?? request.url
        }
    }
    /// The path and the query of the URL, on any host.
    public static let path = RecordedPart(name: "path") { request in
        let parts = URLComponents(string: canonical(request.url))
        return (parts?.percentEncodedPath ?? "") + (parts?.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
    /// The values of a header field.
    public static func field(_ name: String) -> RecordedPart {
        RecordedPart(name: "field \(name)") { $0.values(name) }
    }
    /// The body; JSON is compared as JSON, so the order of members does not matter, nor how a number is written.
    ///
    /// Numbers and texts are compared exactly, to the last digit and code point.
    public static let body = RecordedPart(name: "body") { request in
        guard let body = request.body() else { return "" }
        return JSONText.canonical(body) ?? body
    }

    private static func canonical(_ url: String) -> String { CanonicalURL(url)?.string ?? url }
}
