/// Converts any absolute URL to canonical form; ``CanonicalURL`` describes the rules.
enum URLCanonicalizer {
    static func canonicalize(_ input: [UInt8]) -> (bytes: [UInt8], layout: URLLayout)? {
        guard !input.contains(where: { $0 < 0x20 || $0 == 0x7F }), input.count <= Int(Int32.max) / 4 else { return nil }

        var output: [UInt8] = []
        output.reserveCapacity(input.count + 16)

        guard let colon = schemeEnd(input), input[colon...].starts(with: "://".utf8) else { return nil }
        for byte in input[..<colon] { output.append(byte.lowercased) }
        let scheme = KnownScheme(output)
        output.append(contentsOf: "://".utf8)

        let authorityStart = colon + 3
        let authorityEnd = input[authorityStart...].firstIndex(where: isAuthorityEnd) ?? input.endIndex
        let authority = input[authorityStart..<authorityEnd]
        var hostAndPort = authority
        if let at = authority.firstIndex(of: UInt8(ascii: "@")) {
            hostAndPort = authority[(at + 1)...]
            guard !hostAndPort.contains(UInt8(ascii: "@")), appendUserInfo(authority[..<at], to: &output) else {
                return nil
            }
        }

        let hostStart = output.count
        guard let (hostText, portText) = split(hostAndPort),
            let host = HostName.canonicalize(hostText, readsNumbersAsIPv4: scheme != nil),
            !host.isEmpty || scheme == nil && portText == nil && hostStart == authorityStart
        else { return nil }
        output.append(contentsOf: host)
        let hostEnd = output.count

        var port: UInt16?
        if let portText, !portText.isEmpty {
            guard let value = parsePort(portText) else { return nil }
            if value != scheme?.defaultPort {
                port = UInt16(value)
                output.append(UInt8(ascii: ":"))
                output.append(contentsOf: String(value).utf8)
            }
        }

        let pathStart = output.count
        let pathEnd = input[authorityEnd...].firstIndex(where: isPathEnd) ?? input.endIndex
        PathNormalization.append(input[authorityEnd..<pathEnd], to: &output)
        let outputPathEnd = output.count

        if pathEnd < input.endIndex, input[pathEnd] == UInt8(ascii: "?") {
            let queryEnd = input[pathEnd...].firstIndex(of: UInt8(ascii: "#")) ?? input.endIndex
            for byte in input[pathEnd..<queryEnd] {
                if ByteSet.query.contains(byte) { output.append(byte) } else { output.appendPercentEncoded(byte) }
            }
        }

        let layout = URLLayout(
            schemeEnd: Int32(colon),
            hostStart: Int32(hostStart),
            hostEnd: Int32(hostEnd),
            port: port,
            hasNeedlessEscapes: PathNormalization.hasNeedlessEscapes(output[pathStart..<outputPathEnd]),
            pathStart: Int32(pathStart),
            pathEnd: Int32(outputPathEnd)
        )
        return (output, layout)
    }

    /// The index of the colon after a scheme (RFC 3986 §3.1), or `nil`.
    private static func schemeEnd(_ input: [UInt8]) -> Int? {
        guard let first = input.first, first.isASCIILetter,
            let end = input.firstIndex(where: { !$0.isSchemeCharacter }), input[end] == UInt8(ascii: ":")
        else { return nil }
        return end
    }

    static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || isPathEnd(byte)
    }

    static func isPathEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// A decimal port from 0 to 65535; leading zeros are allowed (RFC 3986 §6.2.3).
    static func parsePort(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for byte in digits {
            guard let digit = byte.decimalDigit else { return nil }
            value = value * 10 + digit
            guard value <= 65535 else { return nil }
        }
        return value
    }

    /// Splits `host[:port]`; colons within the brackets of an IPv6 address do not count.
    static func split(_ authority: ArraySlice<UInt8>) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?)? {
        var searchStart = authority.startIndex
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            searchStart = close + 1
            guard searchStart == authority.endIndex || authority[searchStart] == UInt8(ascii: ":") else { return nil }
        }
        guard let colon = authority[searchStart...].firstIndex(of: UInt8(ascii: ":")) else { return (authority, nil) }
        return (authority[..<colon], authority[(colon + 1)...])
    }

    /// Appends the user information and its `@`; returns false for a backslash, which some programs read as a slash.
    private static func appendUserInfo(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) -> Bool {
        guard !text.isEmpty else { return true }
        for index in text.indices {
            let byte = text[index]
            guard byte != UInt8(ascii: "\\") else { return false }
            let isEncoding = percentDecodedByte(text, at: index, end: text.endIndex) != nil
            if isEncoding || ByteSet.userInfo.contains(byte) {
                output.append(byte)
            } else {
                output.appendPercentEncoded(byte)
            }
        }
        output.append(UInt8(ascii: "@"))
        return true
    }
}

/// Normalises paths by RFC 3986: percent-encodings (§6.2.2.1, §6.2.2.2) first, then dot segments (§5.2.4).
enum PathNormalization {
    /// Appends the normal form of a path, which is empty or begins with `/`.
    static func append(_ path: ArraySlice<UInt8>, to output: inout [UInt8]) {
        let base = output.count
        let slash = UInt8(ascii: "/")
        var index = path.startIndex
        while index < path.endIndex {
            let segmentStart = output.count
            output.append(slash)
            let next = path[(index + 1)...].firstIndex(of: slash) ?? path.endIndex
            appendSegment(path[(index + 1)..<next], to: &output)
            index = next

            // Dot segments are found after decoding. If they were looked for before, `%2e%2e` would stay, and another
            // program could decode it and climb.
            let dots = dotCount(output[(segmentStart + 1)...])
            guard dots > 0 else { continue }
            output.removeLast(output.count - segmentStart)
            if dots == 2, let parent = output[base...].lastIndex(of: slash) {
                output.removeLast(output.count - parent)
            }
            if next == path.endIndex { output.append(slash) }
        }
        if output.count == base { output.append(slash) }
    }

    /// Appends one segment with its percent-encodings normalised; those of the given characters are decoded.
    static func appendSegment(
        _ segment: ArraySlice<UInt8>,
        decoding plain: ByteSet = .unreserved,
        to output: inout [UInt8]
    ) {
        var index = segment.startIndex
        while index < segment.endIndex {
            let byte = segment[index]
            if let decoded = percentDecodedByte(segment, at: index, end: segment.endIndex) {
                if plain.contains(decoded) {
                    output.append(decoded)
                } else {
                    output.appendPercentEncoded(decoded)
                }
                index += 3
            } else {
                if ByteSet.segment.contains(byte) { output.append(byte) } else { output.appendPercentEncoded(byte) }
                index += 1
            }
        }
    }

    /// Whether a canonical path has percent-encodings of characters that a segment may contain as they are.
    static func hasNeedlessEscapes(_ path: ArraySlice<UInt8>) -> Bool {
        path.indices.contains { index in
            percentDecodedByte(path, at: index, end: path.endIndex).map(ByteSet.segment.contains) ?? false
        }
    }

    /// Returns 1 for `.`, 2 for `..`, otherwise 0.
    static func dotCount(_ segment: ArraySlice<UInt8>) -> Int {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") } ? segment.count : 0
    }
}
