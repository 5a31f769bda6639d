#if Gateway
import WaystationHTTP

/// Policies of a page that is shown under another name (Content Security Policy Level 3).
enum ContentSecurityPolicy {
    private static let dropped: Set<String> = ["upgrade-insecure-requests", "block-all-mixed-content"]

    /// Whether the directive with this name would make the browser ask for https, or refuse a page without https.
    static func isDropped(_ name: String) -> Bool { dropped.contains(name.lowercased()) }

    private static let sourceSuffixes = ["-src", "-src-elem", "-src-attr"]
    private static let sourceDirectives: Set<String> = ["base-uri", "form-action", "frame-ancestors"]

    /// Whether the values of the directive with this name are sources.
    ///
    /// The values of other directives, such as `sandbox` and `trusted-types`, can look like hosts.
    static func listsSources(_ name: String) -> Bool {
        let name = name.lowercased()
        return sourceSuffixes.contains { name.hasSuffix($0) } || sourceDirectives.contains(name)
    }

    /// The policy with the gateway's names beside each source that it admits.
    ///
    /// - Parameters:
    ///   - policy: The value of the field.
    ///   - links: The gateway's names, and the scheme of the page.
    /// - Returns: The policy.
    static func local(_ policy: String, _ links: Links) -> String {
        let policies = policy.split(separator: ",").map { policy in
            policy.split(separator: ";").compactMap { directive($0, links) }.joined(separator: "; ")
        }
        return policies.joined(separator: ", ")
    }

    private static func directive(_ directive: Substring, _ links: Links) -> String? {
        let words = directive.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let first = words.first, !isDropped(first) else { return nil }
        guard listsSources(first) else { return words.joined(separator: " ") }
        let named = words.dropFirst().flatMap { word in
            guard let source = PolicySource(word) else { return [word] }
            return [word] + source.local(links).map { $0 + source.path }
        }
        return ([first] + named).joined(separator: " ")
    }
}

/// A source of a content security policy by scheme or by host (Content Security Policy Level 3 §2.3.1).
///
/// A gateway at port 8080 shows what a source admits under these names:
///
/// | Source | The gateway's |
/// | --- | --- |
/// | `https:` | `http://*.localhost:8080` |
/// | `https://shop.example/a` | `http://shop-example.localhost:8080/a` |
/// | `https://*.shop.example:8443` | `http://*.shop-example-8443.localhost:8080` |
/// | `https://*.github.io` | `http://*.localhost:8080` |
/// | `wss://shop.example` | `ws://shop-example.localhost:8080` |
/// | `shop.example` | `shop-example.localhost:8080` |
///
/// The names of several sites have nothing in common that a source could express. So `*.localhost` is wider than
/// `https:`, `https://*` and `https://*.github.io`: it admits the names of all origins. A source for several sites at a
/// port of their own, such as `https://*:8443`, admits the page's own name instead, if the page has this port.
struct PolicySource {
    /// In lower case; nil if the source has the scheme of its page.
    private let scheme: String?
    /// A host, `*`, or `*.` and a host.
    private let host: String
    /// Nil for the scheme's own port, and for every port.
    private let port: Int?
    /// The path; it means the same at the gateway.
    let path: String

    /// Reads a source; nil for a keyword, a nonce or a digest, and for the sources that also admit the gateway's names
    /// as they are, which are `*`, `http:` and `ws:`.
    init?(_ text: String) {
        var rest = text[...]
        guard text != "*", rest.first != "'" else { return nil }
        guard rest.last != ":" || rest.contains("/") else {
            scheme = rest.dropLast().lowercased()
            guard scheme == "https" || scheme == "wss" else { return nil }
            (host, port, path) = ("*", nil, "")
            return
        }
        if let mark = rest.firstIndex(of: ":"), rest[mark...].hasPrefix("://") {
            scheme = rest[..<mark].lowercased()
            rest = rest[mark...].dropFirst(3)
        } else {
            scheme = nil
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        path = String(rest[end...])
        let parts = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first else { return nil }
        self.host = String(host)
        guard parts.count == 2, parts[1] != "*" else {
            port = nil
            return
        }
        guard let number = OriginName.port(parts[1]) else { return nil }
        port = number
    }

    /// The gateway's sources for what this one admits, without the path.
    ///
    /// - Parameter links: The gateway's names, and the page.
    /// - Returns: The sources, each once; none for a host without a name at a gateway.
    func local(_ links: Links) -> [String] {
        // Plain schemes also admit the encrypted ones (§6.7.2.9).
        let (local, remotes): (String, [String])
        switch scheme ?? links.pageScheme {
        case "https": (local, remotes) = ("http://", ["https"])
        case "http": (local, remotes) = ("http://", ["http", "https"])
        case "wss": (local, remotes) = ("ws://", ["https"])
        case "ws": (local, remotes) = ("ws://", ["http", "https"])
        default: return []
        }
        // The page at the gateway has the scheme http, which a source without a scheme then has, too.
        let prefix = scheme == nil ? "" : local
        var sources: [String] = []
        for remote in remotes {
            // Port 80 also admits https at its own port (§6.7.2.11).
            let port = remote == "https" && remotes.count > 1 && self.port == 80 ? nil : self.port
            guard let source = authority(links, remote, port).map({ prefix + $0 }) else { continue }
            if !sources.contains(source) { sources.append(source) }
        }
        return sources
    }

    private func authority(_ links: Links, _ scheme: String, _ port: Int?) -> String? {
        let names = links.names
        guard host == "*" || host.hasPrefix("*.") else {
            return OriginName(scheme: scheme, host: host, port: port)
                .flatMap { names.isReserved($0) ? nil : names.authority(of: $0) }
        }
        let domain = String(host.dropFirst(2)).lowercased()
        let origin = OriginName(scheme: scheme, host: domain, port: port)
        guard host == "*" || (origin != nil && PublicSuffixes.separates(domain)) else {
            return origin.flatMap { names.authority(of: $0) }.map { "*." + $0 }
        }
        if port == nil || port == OriginName.standardPort(of: scheme) { return names.anyAuthority }
        guard let page = links.page, page.scheme == scheme, page.port == port,
            host == "*" || page.host.hasSuffix("." + domain)
        else { return nil }
        return names.authority(of: page)
    }
}
#endif
