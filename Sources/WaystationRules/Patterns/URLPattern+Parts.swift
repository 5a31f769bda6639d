/// Matches each part of a pattern on its own, for explanations and for ``URLPattern/matches(_:)``.
extension URLPattern {
    /// The scheme when it is neither `http` nor `https`; otherwise nil.
    package var schemeBesideHTTP: String? {
        guard case .named(let name) = scheme, name != "http", name != "https" else { return nil }
        return name
    }

    /// The end of scheme, host and port in ``text``.
    var authorityEnd: String.Index {
        // The parser has found `://` after the scheme.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text.endIndex }
        return text.utf8[colon...].dropFirst(3).firstIndex(where: URLCanonicalizer.isAuthorityEnd) ?? text.endIndex
    }

    func takesScheme(of url: CanonicalURL) -> Bool {
        switch scheme {
        case .web: url.scheme == "http" || url.scheme == "https"
        case .named(let name): url.scheme == name
        }
    }

    func takesPort(of url: CanonicalURL) -> Bool {
        switch port {
        case .any: true
        case .standard: url.port == nil
        case .exact(let number): url.effectivePort == number
        }
    }

    func takesHost(of url: CanonicalURL) -> Bool {
        let found = url.host
        return switch host {
        case .any: true
        case .exact(let name): found == name
        case .subdomains(let name): Self.isSubdomain(found, of: name)
        case .domain(let name): found == name || Self.isSubdomain(found, of: name)
        }
    }

    func takesPath(of url: CanonicalURL) -> Bool {
        let url = url.plain
        return url.string.withUTF8Bytes { bytes in
            PathSegmentPattern.matches(path[...], bytes, from: Int(url.layout.pathStart), to: Int(url.layout.pathEnd))
        }
    }

    static func isSubdomain(_ host: Substring, of name: String) -> Bool {
        host.utf8.count > name.utf8.count + 1 && host.hasSuffix(name)
            && host.utf8.dropLast(name.utf8.count).last == UInt8(ascii: ".")
    }
}

extension URLPattern.Scheme: CustomStringConvertible {
    var description: String {
        switch self {
        case .web: "http or https"
        case .named(let name): name
        }
    }
}

extension URLPattern.Host: CustomStringConvertible {
    var description: String {
        switch self {
        case .any: "any host"
        case .exact(let name): name.isEmpty ? "an empty host" : name
        case .subdomains(let name): "a sub-domain of \(name)"
        case .domain(let name): "\(name) or a sub-domain of it"
        }
    }
}

extension URLPattern.Port: CustomStringConvertible {
    var description: String {
        switch self {
        case .any: "any port"
        case .standard: "the default port of the scheme"
        case .exact(let number): "\(number)"
        }
    }
}
