import Foundation

extension CanonicalURL {
    /// Reads an absolute http(s) URL.
    ///
    /// Nil for any other scheme and for an invalid URL.
    init?(_ text: String) {
        guard let url = Self.resolve(Array(text.utf8), against: nil) else { return nil }
        self = url
    }

    /// Resolves a reference of a document as browsers do (WHATWG URL): white space around it and line breaks in it are
    /// removed, and backslashes count as slashes.
    ///
    /// Nil for other schemes (`data:`, `mailto:` …).
    init?(_ reference: String, relativeTo base: CanonicalURL) {
        guard let url = Self.resolve(Array(reference.utf8), against: base) else { return nil }
        self = url
    }

    private static func resolve(_ raw: [UInt8], against base: CanonicalURL?) -> CanonicalURL? {
        let bytes = cleaned(raw)[...]
        if let (scheme, rest) = splitScheme(bytes) {
            guard scheme == "http" || scheme == "https" else { return nil }
            // `http:page.html` is a relative reference if the base has the same scheme.
            if let base, base.scheme == scheme, !isSlash(rest.first) {
                return resolveRelative(rest, against: base)
            }
            return resolveAuthority(rest.drop { isSlash($0) }, scheme: scheme)
        }
        guard let base else { return nil }
        return resolveRelative(bytes, against: base)
    }

    private static func resolveRelative(_ bytes: ArraySlice<UInt8>, against base: CanonicalURL) -> CanonicalURL? {
        guard let first = bytes.first else { return base }
        if isSlash(first) {
            let rest = bytes.dropFirst()
            if isSlash(rest.first) {
                return resolveAuthority(rest.drop { isSlash($0) }, scheme: base.scheme)
            }
            return assemble(origin: base.origin, pathAndQuery: bytes)
        }
        if first == UInt8(ascii: "?") {
            return assemble(origin: base.origin, pathAndQuery: Array(base.path.utf8) + bytes)
        }
        return assemble(origin: base.origin, pathAndQuery: Array(base.directory.utf8) + bytes)
    }

    private static func resolveAuthority(_ bytes: ArraySlice<UInt8>, scheme: String) -> CanonicalURL? {
        let end = bytes.firstIndex { isSlash($0) || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        var authority = bytes[..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[(at + 1)...]
        }
        guard let host = canonicalHost(authority, scheme: scheme) else { return nil }
        return assemble(origin: "\(scheme)://\(host)", pathAndQuery: bytes[end...])
    }

    private static func assemble(origin: String, pathAndQuery: some Collection<UInt8>) -> CanonicalURL {
        let bytes = Array(pathAndQuery)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let path = removingDotSegments(PercentEncoding.normalized(bytes[..<mark], .path))
        let query = mark < bytes.endIndex ? PercentEncoding.normalized(bytes[(mark + 1)...], .query) : nil
        return CanonicalURL(origin: origin, path: path, query: query)
    }

    /// The reference without white space around it, without tabs and line breaks in it, and without the fragment.
    private static func cleaned(_ raw: [UInt8]) -> [UInt8] {
        var bytes = raw[...]
        if let hash = bytes.firstIndex(of: UInt8(ascii: "#")) { bytes = bytes[..<hash] }
        while let first = bytes.first, first <= 0x20 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last <= 0x20 { bytes = bytes.dropLast() }
        return bytes.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    }

    private static func isSlash(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
    }

    private static func splitScheme(_ bytes: ArraySlice<UInt8>) -> (scheme: String, rest: ArraySlice<UInt8>)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first else { return nil }
        let name = bytes[..<colon]
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        guard isLetter(first) else { return nil }
        let isScheme = name.allSatisfy {
            isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        guard isScheme else { return nil }
        return (String(decoding: name, as: UTF8.self).lowercased(), bytes[(colon + 1)...])
    }

    /// The host in lower case (an international one as Punycode), and the port unless it is the scheme's default.
    private static func canonicalHost(_ authority: ArraySlice<UInt8>, scheme: String) -> String? {
        var host = authority
        var port: ArraySlice<UInt8>?
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")), !authority[colon...].contains(UInt8(ascii: "]")) {
            host = authority[..<colon]
            port = authority[(colon + 1)...]
        }
        guard !host.isEmpty, var name = asciiHost(String(decoding: host, as: UTF8.self)) else { return nil }
        if name.hasSuffix("."), name.count > 1 { name.removeLast() }
        guard let port, !port.isEmpty else { return name }
        guard let number = UInt16(String(decoding: port, as: UTF8.self)) else { return nil }
        return number == (scheme == "https" ? 443 : 80) ? name : "\(name):\(number)"
    }

    private static func asciiHost(_ host: String) -> String? {
        let decoded = host.removingPercentEncoding ?? host
        var name = decoded.lowercased()
        if !name.utf8.allSatisfy({ $0 < 0x80 }) {
            // Foundation implements IDNA; a name that it refuses is not a valid host.
            guard let encoded = URLComponents(string: "http://\(name)/")?.encodedHost,
                encoded.utf8.allSatisfy({ $0 < 0x80 }), !encoded.contains("%")
            else { return nil }
            name = encoded
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            let inner = name.dropFirst().dropLast()
            return inner.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) ? name : nil
        }
        let isHost = name.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
        }
        return isHost ? name : nil
    }

    /// Removes dot segments (RFC 3986, section 5.2.4) from a path that is already normalised, so that `%2e` counts as a
    /// dot.
    private static func removingDotSegments(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let dot = UInt8(ascii: ".")
        var output: [UInt8] = []
        output.reserveCapacity(path.count + 1)
        var index = path.first == slash ? 1 : 0
        while true {
            let end = path[index...].firstIndex(of: slash) ?? path.endIndex
            let segment = path[index..<end]
            let isLast = end == path.endIndex
            if segment.count == 2, segment.allSatisfy({ $0 == dot }) {
                if let previous = output.lastIndex(of: slash) { output.removeSubrange(previous...) }
                if isLast { output.append(slash) }
            } else if segment.count == 1, segment.first == dot {
                if isLast { output.append(slash) }
            } else {
                output.append(slash)
                output.append(contentsOf: segment)
            }
            if isLast { return output }
            index = end + 1
        }
    }
}
