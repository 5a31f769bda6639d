import Waystation
package import WaystationFoundation
package import WaystationHTTP

/// The secrets of all exchanges of a run, which are searched in everything that is written.
///
/// A secret is found however it is coded: percent-encoded, escaped as in JSON, HTML or a form, or within Base64.
///
/// Not every value that is left out is searched. What has the name of a secret is one, if it has six characters and more
/// than common words; a cookie must have the name of a login, be closed to scripts, be long or look random, and so must the
/// value of an ambiguous name such as `key`. Otherwise `consent=accepted-all` would be found in many a page.
package struct RunSecrets: Sendable {
    /// A form of a secret.
    private struct Pattern {
        let bytes: [UInt8]
        /// The secret in words, such as “the item token”.
        let label: String
        /// Whether it must not stand within a longer word, because short values occur there by chance.
        let isWord: Bool
    }

    private let names: SecretNames
    private var patterns: [Pattern] = []
    private var known: Set<[UInt8]> = []
    /// The patterns by their first two bytes, and whether there are any.
    private var beginnings: [UInt16: [Int]] = [:]
    private var begins: [Bool] = []

    package init(_ names: SecretNames) { self.names = names }

    /// Whether there are no secrets.
    package var isEmpty: Bool { patterns.isEmpty }

    // MARK: - Collecting

    /// Adds the secrets of a request.
    package mutating func add(_ request: URLRequest) {
        if let url = request.url { add(url: url.absoluteString) }
        for (name, value) in request.allHTTPHeaderFields ?? [:] { add(value, ofField: name) }
        if let body = request.httpBody {
            let type = request.value(forHTTPHeaderField: "Content-Type") ?? ""
            _ = search(Array(body), type: type, isRequest: true)
        }
    }

    /// Adds the secrets of a response's fields.
    ///
    /// - Parameters:
    ///   - fields: The fields, by name; `Set-Cookie` as Foundation joins it.
    ///   - setCookies: The values of `Set-Cookie` as they arrived, if they are known.
    package mutating func add(_ fields: [String: String], setCookies: [String]?) {
        for (name, value) in fields { add(value, ofField: name) }
        for value in setCookies ?? [] { add(setCookie: value) }
    }

    /// Adds the secrets of another set.
    package mutating func formUnion(_ other: RunSecrets) {
        for pattern in other.patterns { insert(pattern) }
    }

    /// Adds the secrets of a response's body.
    ///
    /// - Returns: The body without them, as ``Redaction/responseBody(_:type:)`` returns it; it is searched only once.
    package mutating func add(_ body: Data, type: String) -> Data {
        let text = Array(body)
        let spans = search(text, type: type, isRequest: false)
        return spans.isEmpty ? body : Data(spans.applied(to: text))
    }

    private mutating func search(_ text: [UInt8], type: String, isRequest: Bool) -> [SecretSpan] {
        var search = SecretSearch(names, isRequest: isRequest)
        let spans = search.spans(in: text, type: type)
        for span in spans { add(span) }
        return spans
    }

    private mutating func add(url: String) {
        var search = SecretSearch(names, isRequest: true)
        for span in names.spans(inURL: Array(url.utf8), search: { search.nested($0) }) { add(span) }
    }

    private mutating func add(_ span: SecretSpan) {
        let isCookie = span.name.lowercased().hasSuffix("cookie")
        let isCredentials = span.name.lowercased().hasSuffix("authorization")
        if isCookie || isCredentials { return add(String(decoding: span.value, as: UTF8.self), ofField: span.name) }
        add(span.value, "the item \(span.name)", isCertain: !SecretNames.isAmbiguous(span.name))
    }

    private mutating func add(_ value: String, ofField name: String) {
        switch name.lowercased() {
        case "cookie", "cookie2":
            guard names.contains(name) else { return }
            for pair in CookiePairs(value).pairs { add(cookie: pair, isClosed: false) }
        case "set-cookie", "set-cookie2":
            guard names.contains(name) else { return }
            for line in SetCookie.split(joined: value) { add(setCookie: line) }
        case _ where names.contains(name): add(credentials: value, name)
        default:
            add(url: value)
            var search = SecretSearch(names, isRequest: false)
            for span in search.spans(inField: Array(value.utf8)) { add(span) }
        }
    }

    private mutating func add(setCookie line: String) {
        guard names.contains("Set-Cookie") else { return }
        let parts = line.split(separator: ";").map { $0.trimmingSpace() }
        guard let pair = parts.first else { return }
        add(cookie: pair, isClosed: parts.dropFirst().contains { $0.equalsIgnoringCase("HttpOnly") })
    }

    private mutating func add(cookie pair: String, isClosed: Bool) {
        let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingSpace() }
        guard parts.count == 2 else { return }
        let name = parts[0].lowercased()
        let value = Array(parts[1].trimmingCharacters(in: ["\""]).utf8)
        let isPreference = Self.preferences.contains { name.contains($0) }
        let isLogin =
            name.hasPrefix("__host-") || name.hasPrefix("__secure-") || names.contains(name)
            || Self.logins.contains { name.contains($0) }
        guard isLogin || !isPreference else { return }
        let isCertain = isLogin || isClosed && value.count >= Self.shortestWithinWords || SecretValue.isLong(value)
        add(value, "the cookie \(parts[0])", isCertain: isCertain)
    }

    /// Parts of the names of cookies that keep what a user has chosen.
    private static let preferences = [
        "banner", "consent", "country", "currency", "experiment", "gdpr", "lang", "layout", "locale", "region", "theme",
        "timezone", "variant",
    ]
    /// Parts of the names of cookies that log a user in.
    private static let logins = ["auth", "csrf", "jwt", "login", "remember", "secret", "sess", "sid", "token", "xsrf"]

    /// Adds the token of credentials (RFC 9110 §11.4), and the password of `Basic` (RFC 7617).
    private mutating func add(credentials value: String, _ name: String) {
        let label = "the field \(name)"
        let isCertain = !SecretNames.isAmbiguous(name)
        add(Array(value.utf8), label, isCertain: isCertain)
        guard let space = value.firstIndex(of: " ") else { return }
        let rest = value[space...].trimmingSpace()
        guard !rest.isEmpty else { return }
        // Commas within quotation marks count, too: a part of a secret is enough to find it, and a quotation mark that is
        // not closed must hide none.
        let parameters = rest.split(separator: ",").map(FieldParameter.init)
        guard parameters.count > 1 || rest.contains("\"") else {
            add(Array(rest.utf8), label, isCertain: true)
            guard value[..<space].equalsIgnoringCase("Basic"), let pair = Data(base64Encoded: rest) else { return }
            add(Array(pair), label, isCertain: true)
            if let colon = pair.firstIndex(of: UInt8(ascii: ":")) {
                add(Array(pair[(colon + 1)...]), "the password of \(label)", isCertain: true)
            }
            return
        }
        // Of parameters, only some are secrets: a Digest also has the URL.
        for parameter in parameters {
            let name = parameter.name
            guard names.contains(name) || ["credential", "mac", "response"].contains(name) else { continue }
            let text = (parameter.value ?? "").trimmingCharacters(in: ["\""])
            add(Array(text.utf8), "\(name) of \(label)", isCertain: true)
        }
    }

    private mutating func add(_ value: [UInt8], _ label: String, isCertain: Bool) {
        guard value.count >= Self.shortest, !SecretValue.isCommon(value),
            isCertain || SecretValue.looksRandom(value), !value.contains(subsequence: SecretNames.placeholder)
        else { return }
        let isWord = value.count < Self.shortestWithinWords || value.allSatisfy(\.isASCIIDigit)
        insert(Pattern(bytes: value, label: label, isWord: isWord))
        let plain = Self.plain(value)
        if plain.count >= Self.shortest { insert(Pattern(bytes: plain, label: label, isWord: isWord)) }
        guard !isWord else { return }
        for text in Self.base64(containing: value) { insert(Pattern(bytes: text, label: label, isWord: false)) }
    }

    private mutating func insert(_ pattern: Pattern) {
        guard known.insert(pattern.bytes).inserted else { return }
        let beginning = UInt16(pattern.bytes[0]) << 8 | UInt16(pattern.bytes[1])
        beginnings[beginning, default: []].append(patterns.count)
        if begins.isEmpty { begins = [Bool](repeating: false, count: 1 << 16) }
        begins[Int(beginning)] = true
        patterns.append(pattern)
    }

    /// Shorter values occur by chance, too.
    private static let shortest = 6
    private static let shortestWithinWords = 8

    /// The characters of Base64 that show a value, at each of the three places at which it may begin in a group.
    private static func base64(containing value: [UInt8]) -> Set<[UInt8]> {
        var texts: Set<[UInt8]> = []
        for offset in 0..<3 {
            let text = Array(Data([UInt8](repeating: 0, count: offset) + value).base64EncodedString().utf8)
            let first = [0, 2, 3][offset]
            let end = (offset + value.count) * 8 / 6
            guard end - first >= shortestWithinWords else { continue }
            let part = Array(text[first..<end])
            texts.insert(part)
            texts.insert(plain(part))
            // The alphabet for URLs (RFC 4648 §5).
            texts.insert(
                part.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                }
            )
        }
        return texts
    }

    // MARK: - Searching

    /// The first secret in a text, in words; nil if the text has none.
    package func first(in text: [UInt8]) -> String? {
        guard !isEmpty else { return nil }
        if let found = find(in: text) { return found }
        let plain = Self.plain(text)
        return plain == text ? nil : find(in: plain)
    }

    private func find(in text: [UInt8]) -> String? {
        text.withUnsafeBufferPointer { text -> String? in
            guard text.count >= Self.shortest else { return nil }
            return begins.withUnsafeBufferPointer { begins -> String? in
                for place in 0..<(text.count - 1) {
                    let beginning = UInt16(text[place]) << 8 | UInt16(text[place + 1])
                    guard begins[Int(beginning)] else { continue }
                    for index in beginnings[beginning] ?? [] where isPattern(index, at: place, of: text) {
                        return patterns[index].label
                    }
                }
                return nil
            }
        }
    }

    private func isPattern(_ index: Int, at place: Int, of text: UnsafeBufferPointer<UInt8>) -> Bool {
        let pattern = patterns[index]
        let end = place + pattern.bytes.count
        guard end <= text.count else { return false }
        for offset in pattern.bytes.indices where text[place + offset] != pattern.bytes[offset] { return false }
        guard pattern.isWord else { return true }
        let isWithin = { (place: Int) in
            text.indices.contains(place) && text[place].isASCIIAlphanumeric
        }
        return !isWithin(place - 1) && !isWithin(end)
    }

    /// A text without percent-encoding, escapes of JSON and references of HTML, with spaces in place of `+`.
    ///
    /// Texts within texts have several codings one over the other, so the codings are removed until there are none.
    static func plain(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<4 {
            let next = plainOnce(text)
            if next == text { break }
            text = next
        }
        return text
    }

    private static func plainOnce(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { "%\\&+\0".utf8.contains($0) }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var place = 0
        while place < text.count {
            var length = 1
            switch text[place] {
            // Texts in UTF-16 have a zero beside each letter.
            case 0: break
            case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if let decoded = percentDecodedByte(text, at: place, end: text.count) {
                    result.append(decoded)
                    length = 3
                } else {
                    result.append(text[place])
                }
            case UInt8(ascii: "\\"):
                if let (scalar, count) = SecretSearch.scalar(text[place...]) {
                    result += Array(String(Character(scalar)).utf8)
                    length = count
                } else if place + 1 < text.count {
                    result += SecretSearch.unescaped(text, place..<place + 2).bytes
                    length = 2
                }
            case UInt8(ascii: "&"):
                if let (scalar, count) = SecretSearch.reference(text[place...]) {
                    result += Array(String(Character(scalar)).utf8)
                    length = count
                } else {
                    result.append(text[place])
                }
            case let byte: result.append(byte)
            }
            place += length
        }
        return result
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence text: String) -> Bool { firstRange(of: Array(text.utf8), from: 0) != nil }
}
