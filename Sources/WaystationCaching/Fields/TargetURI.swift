import Foundation
import HTTPTypes
import WaystationFields

extension HTTPRequest {
    /// The target URI as the request has it, without a fragment; nil when the scheme or the authority is missing.
    var targetURI: String? {
        guard let scheme, let authority, !authority.isEmpty else { return nil }
        var path = path ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        return "\(scheme)://\(authority)\(path)"
    }
}

/// An absolute URL with its origin (RFC 9110 §4.3.1).
struct OriginURL: Equatable {
    let url: URL
    let origin: String

    /// Makes a URL from the value of a field, resolved against a base URL if it is relative; nil when it has no origin.
    init?(_ text: String, relativeTo base: OriginURL? = nil) {
        guard let resolved = URL(string: FieldText.percentEncoded(text), relativeTo: base?.url)?.absoluteURL,
            var components = URLComponents(url: resolved, resolvingAgainstBaseURL: true),
            let scheme = components.scheme?.lowercased(), let host = components.host?.lowercased(), !host.isEmpty
        else { return nil }
        let standard = scheme == "https" ? 443 : scheme == "http" ? 80 : 0
        origin = "\(scheme)://\(host):\(components.port ?? standard)"
        components.scheme = scheme
        components.host = host
        if components.port == standard { components.port = nil }
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        components.fragment = nil
        guard let url = components.url else { return nil }
        self.url = url
    }
}
