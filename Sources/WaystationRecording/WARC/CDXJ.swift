package import Foundation
import WaystationHTTP

/// One line of a CDXJ index: the place of one record of a WARC file, under the key by which captures are sorted
/// (<https://specs.webrecorder.net/cdxj/0.1.0/>).
///
/// ```
/// com,example)/page?a=1 20260301120000 {"url": "https://www.example.com/page?a=1", "mime": "text/html", …}
/// ```
/// The members have the order and the spacing of the program `cdxj-indexer`, so that its index and ours can be compared line
/// by line. The lines of an index are sorted by their bytes: equal keys stand together, the older capture first.
package struct CDXJLine: Hashable, Sendable {
    /// The key of the URL; see ``SURT``.
    package var key: String
    /// The time of the capture in UTC, as 14 digits from the year to the second.
    package var timestamp: String
    /// The URL as the record has it.
    package var url: String
    /// The media type of the payload without parameters, or `warc/revisit`; nil if the record has none.
    package var mime: String?
    /// The status of the response, as three digits; nil for a record without an HTTP head.
    package var status: String?
    /// The digest of the payload as in `WARC-Payload-Digest`, such as `sha256:…`.
    package var digest: String?
    /// The number of bytes that the record has in the file: of a `.warc.gz`, those of its member of gzip.
    package var length: Int
    /// The offset of the record's first byte in the file; of a `.warc.gz`, that of its member of gzip.
    package var offset: Int
    /// The name of the WARC file, without its folder.
    package var filename: String

    /// Makes the line of a record.
    package init(
        url: String,
        date: Date,
        mime: String? = nil,
        status: String? = nil,
        digest: String? = nil,
        length: Int,
        offset: Int,
        filename: String
    ) {
        key = SURT.key(of: url)
        timestamp = Timestamp.digits(date)
        self.url = url
        self.mime = mime
        self.status = status
        self.digest = digest
        self.length = length
        self.offset = offset
        self.filename = filename
    }

    /// Reads a line, without its line end.
    ///
    /// Programs write the numbers as texts or as numbers; further members are skipped.
    ///
    /// - Returns: Nil for a line that is not that of a capture, such as `!meta …`, that lacks the URL or the place of the
    ///   record, or whose request had another method than GET.
    package init?(_ line: some StringProtocol) {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, parts[1].utf8.count == 14, parts[1].utf8.isDecimal,
            let members = try? JSONDecoder().decode(Members.self, from: Data(parts[2].utf8)),
            let url = members.url?.text, let filename = members.filename?.text,
            let length = members.length?.number, let offset = members.offset?.number,
            members.method.map({ $0.text == "GET" }) ?? true
        else { return nil }
        key = String(parts[0])
        timestamp = String(parts[1])
        self.url = url
        mime = members.mime?.text
        status = members.status?.text
        digest = members.digest?.text
        self.length = length
        self.offset = offset
        self.filename = filename
    }

    /// The line, without its line end.
    package var text: String {
        var members: [(String, String)] = [("url", url)]
        if let mime { members.append(("mime", mime)) }
        if let status { members.append(("status", status)) }
        if let digest { members.append(("digest", digest)) }
        members += [("length", "\(length)"), ("offset", "\(offset)"), ("filename", filename)]
        return "\(key) \(timestamp) \(Self.json(members))"
    }

    /// The moment of the timestamp; nil if its digits are not a date and a time.
    package var date: Date? {
        let digits = Array(timestamp)
        guard digits.count == 14 else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return Timestamp.date(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z"
        )
    }

    /// An object of JSON whose members are texts, in one line of ASCII.
    static func json(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\(json($0.name)): \(json($0.value))" }.joined(separator: ", ") + "}"
    }

    /// A text of JSON in ASCII.
    static func json(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            case 0x08: result += "\\b"
            case 0x09: result += "\\t"
            case 0x0A: result += "\\n"
            case 0x0C: result += "\\f"
            case 0x0D: result += "\\r"
            case 0x20...0x7F: result.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default: result += "\\u" + [UInt8(unit >> 8), UInt8(unit & 0xFF)].hexadecimal
            }
        }
        return result + "\""
    }

    /// The members of a line that are read.
    private struct Members: Decodable {
        /// A text, or a number that is read as one.
        struct Value: Decodable {
            let text: String
            var number: Int? { Int(text).flatMap { $0 >= 0 ? $0 : nil } }

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    self.text = text
                } else {
                    text = "\(try container.decode(Int.self))"
                }
            }
        }

        let url, mime, status, digest, length, offset, filename, method: Value?
    }
}

/// The keys of URLs in an index of captures: the host with its labels in reverse order, and a form of the rest in which
/// spellings of one address are equal ("Sort-friendly URI Reordering Transform").
///
/// The rules are those of the Python package `surt`, which cdxj-indexer and pywb use: the scheme, `www.`, the user, the
/// standard port, the fragment, the slash at the end of a path and the identifiers of sessions are left out; everything is
/// in lower case; the items of the query are sorted.
package enum SURT {
    /// The key of a URL, such as `example,shop)/cart?id=1` of `https://www.shop.example/cart/?ID=1`.
    ///
    /// A text that is not a URL is its own key.
    package static func key(of url: String) -> String {
        var bytes = Array(url.utf8)
        bytes.removeAll { $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        bytes = trimmed(bytes)
        guard !bytes.isEmpty else { return "-" }
        if schemeLength(bytes) == nil { bytes = Array("http://".utf8) + bytes }
        // A link such as `http://https://shop.example/` is that of the last scheme.
        while let next = ["http://", "https://"].first(where: { bytes.starts(with: $0.utf8) })?.utf8.count,
            ["http://", "https://"].contains(where: { bytes[next...].starts(with: $0.utf8) })
        { bytes.removeFirst(next) }
        guard let parts = Parts(bytes) else { return url }
        return String(decoding: parts.key, as: UTF8.self)
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let start = bytes.firstIndex { $0 != 0x20 } ?? bytes.endIndex
        let end = bytes.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? start
        return Array(bytes[start..<max(start, end)])
    }

    /// The length of the scheme, without its colon; nil if the text begins with none (RFC 3986 §3.1).
    private static func schemeLength(_ bytes: some Collection<UInt8>) -> Int? {
        guard let first = bytes.first, isLetter(first) else { return nil }
        let name = bytes.prefix { isLetter($0) || $0.isASCIIDigit || "+-.".utf8.contains($0) }
        return bytes.dropFirst(name.count).first == UInt8(ascii: ":") ? name.count : nil
    }

    fileprivate static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte.lowercased)
    }

    /// A URL, split as RFC 3986, appendix B, says.
    private struct Parts {
        var scheme: [UInt8]
        var host: [UInt8]
        var port: Int?
        var path: [UInt8]
        var query: [UInt8]

        init?(_ url: [UInt8]) {
            guard let length = SURT.schemeLength(url) else { return nil }
            scheme = url[..<length].map(\.lowercased)
            var rest = url[(length + 1)...].prefix { $0 != UInt8(ascii: "#") }
            var authority: ArraySlice<UInt8> = []
            if rest.starts(with: "//".utf8) {
                authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
                rest = rest.dropFirst(2 + authority.count)
            }
            path = Array(rest.prefix { $0 != UInt8(ascii: "?") })
            query = Array(rest.dropFirst(path.count + 1))
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
            while authority.last == UInt8(ascii: ":") { authority = authority.dropLast() }
            let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
            if let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":")) {
                guard let number = Int(String(decoding: authority[(colon + 1)...], as: UTF8.self)),
                    0...65_535 ~= number
                else { return nil }
                port = number == 0 ? nil : number
                authority = authority[..<colon]
            }
            host = authority.map(\.lowercased)
            // The brackets of an address are no part of the name.
            if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
                host = Array(host[1..<host.count - 1])
            }
        }

        var key: [UInt8] {
            var key: [UInt8] = []
            let host = canonicalHost
            if host.isEmpty {
                key += scheme + [UInt8(ascii: ":")]
            } else {
                let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                key += Array(labels.reversed().joined(separator: [UInt8(ascii: ",")]))
                let standard = scheme.elementsEqual("http".utf8) ? 80 : scheme.elementsEqual("https".utf8) ? 443 : 0
                if let port, port != standard { key += Array(":\(port)".utf8) }
                key.append(UInt8(ascii: ")"))
            }
            let path = canonicalPath(hasHost: !host.isEmpty)
            let query = canonicalQuery
            if !path.isEmpty { key += path } else if !query.isEmpty { key.append(UInt8(ascii: "/")) }
            if !query.isEmpty { key += [UInt8(ascii: "?")] + query }
            return key
        }

        private var canonicalHost: [UInt8] {
            guard !host.isEmpty else { return [] }
            var name = unescaped(host)
            if !name.allSatisfy({ $0 < 0x80 }), let text = CanonicalURL.host(String(decoding: name, as: UTF8.self)) {
                name = Array(text.utf8)
            }
            var single: [UInt8] = []
            var index = 0
            while index < name.count {
                single.append(name[index])
                let isPair =
                    name[index] == UInt8(ascii: ".") && index + 1 < name.count && name[index + 1] == name[index]
                index += isPair ? 2 : 1
            }
            while single.first == UInt8(ascii: ".") { single.removeFirst() }
            while single.last == UInt8(ascii: ".") { single.removeLast() }
            name = escaped(single.map(\.lowercased))
            // `www.`, `www2.` and so on are left out.
            if name.starts(with: "www".utf8) {
                let rest = name.dropFirst(3).drop(while: \.isASCIIDigit)
                if rest.first == UInt8(ascii: "."), !scheme.elementsEqual("dns".utf8) { name = Array(rest.dropFirst()) }
            }
            return name
        }

        private func canonicalPath(hasHost: Bool) -> [UInt8] {
            var path = unescaped(path)
            if hasHost { path = withoutDots(path) }
            path = SessionName.removed(fromPath: escaped(path).map(\.lowercased))
            if path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
            return path
        }

        private var canonicalQuery: [UInt8] {
            guard !query.isEmpty else { return [] }
            let query = SessionName.removed(fromQuery: escaped(unescaped(query))).map(\.lowercased)
            guard query.count > 1 else { return query }
            let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
                .map { $0.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false) }
            let sorted = items.sorted { left, right in
                left.lexicographicallyPrecedes(right) { $0.lexicographicallyPrecedes($1) }
            }
            return Array(
                sorted.map { Array($0.joined(separator: [UInt8(ascii: "=")])) }.joined(separator: [UInt8(ascii: "&")])
            )
        }

        /// The path without segments that are dots, and without empty ones except the last.
        private func withoutDots(_ path: [UInt8]) -> [UInt8] {
            guard !path.isEmpty else { return [UInt8(ascii: "/")] }
            var kept: [ArraySlice<UInt8>] = []
            for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
                if segment.elementsEqual(".".utf8) { continue }
                if segment.elementsEqual("..".utf8), !kept.isEmpty { kept.removeLast() } else { kept.append(segment) }
            }
            var result = [UInt8(ascii: "/")]
            for segment in kept.dropLast() where !segment.isEmpty { result += segment + [UInt8(ascii: "/")] }
            return result + (kept.last ?? [])
        }

        /// The text without percent-encoding, however often it was encoded.
        private func unescaped(_ text: [UInt8]) -> [UInt8] {
            var text = text
            while text.contains(UInt8(ascii: "%")) {
                var decoded: [UInt8] = []
                var index = 0
                while index < text.count {
                    if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
                        let high = text[index + 1].hexadecimalDigit, let low = text[index + 2].hexadecimalDigit
                    {
                        decoded.append(high << 4 | low)
                        index += 3
                    } else {
                        decoded.append(text[index])
                        index += 1
                    }
                }
                guard decoded.count < text.count else { break }
                text = decoded
            }
            return text
        }

        /// The text with everything percent-encoded that is not printable ASCII, and `#` and `%`.
        private func escaped(_ text: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            for byte in text {
                if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "#"), byte != UInt8(ascii: "%") {
                    result.append(byte)
                } else {
                    result += Array("%\([byte].hexadecimal.uppercased())".utf8)
                }
            }
            return result
        }
    }

    /// The identifiers of sessions that programs put into URLs.
    private enum SessionName {
        /// The path of an ASP.NET page without the segment that names a session.
        static func removed(fromPath path: [UInt8]) -> [UInt8] {
            let text = String(decoding: path, as: UTF8.self)
            guard text.contains(".aspx"), text.contains("(") else { return path }
            for pattern in [
                #/^(.*\/)(\((?:[a-z]\([0-9a-z]{24}\))+\)\/)([^?]+\.aspx.*)$/#,
                #/^(.*\/)(\([0-9a-z]{24}\)\/)([^?]+\.aspx.*)$/#,
            ] {
                if let match = text.wholeMatch(of: pattern) { return Array("\(match.1)\(match.3)".utf8) }
            }
            return path
        }

        /// The query without the items that name a session.
        static func removed(fromQuery query: [UInt8]) -> [UInt8] {
            var text = String(decoding: query, as: UTF8.self)
            let lower = text.lowercased()
            guard ["sid=", "sessid", "jsessionid", "cftoken"].contains(where: lower.contains) else { return query }
            for pattern in [
                #/^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$/#.ignoresCase(),
                #/^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$/#.ignoresCase(),
                #/^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$/#.ignoresCase(),
                #/^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$/#.ignoresCase(),
                #/^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$/#.ignoresCase(),
            ] {
                if let match = text.wholeMatch(of: pattern) { text = "\(match.1)\(match.2 ?? "")" }
            }
            return Array(text.utf8)
        }
    }
}
