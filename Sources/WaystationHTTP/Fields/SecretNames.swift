/// The names of header fields and items whose values are secrets.
///
/// There is one list for messages, events, logs, recordings and the inspector. Names are compared without regard to case,
/// `_` and `-`; of a name that is a path, such as `user[password]`, `user.password` or `wsse:Password`, the last part is
/// compared as well, and a number at the end is left out (`password2`). A name that begins with `*` stands for all names
/// that end with the rest of it, and one that also ends with `*` for all names that contain the text between.
package struct SecretNames: Sendable, Hashable {
    /// The text that replaces a secret.
    package static let placeholder = "[redacted]"
    /// The text that replaces a secret of a URL or a form.
    package static let encodedPlaceholder = "%5Bredacted%5D"

    /// Whether user names and passwords are left out of URLs.
    package var hidesUserInfo: Bool
    private var whole: Set<String> = []
    // Bytes: heads with a dozen fields are compared for each response, and texts compare characters.
    private var endings: Set<[UInt8]> = []
    private var parts: Set<[UInt8]> = []

    /// Makes a list.
    package init(_ names: some Sequence<String>, hidesUserInfo: Bool = true) {
        self.hidesUserInfo = hidesUserInfo
        for name in names {
            let text = Self.comparable(name.filter { $0 != "*" })
            guard !text.isEmpty else { continue }
            switch (name.hasPrefix("*"), name.hasSuffix("*")) {
            case (true, true): parts.insert(Array(text.utf8))
            case (true, false): endings.insert(Array(text.utf8))
            default: whole.insert(text)
            }
        }
    }

    /// The names that are secret unless an app says otherwise.
    package static let standard = SecretNames(standardFields.union(standardItems))

    /// Whether the list has no names.
    package var isEmpty: Bool { whole.isEmpty && endings.isEmpty && parts.isEmpty }

    /// Whether values with this name are secrets.
    package func contains(_ name: String) -> Bool {
        guard !isEmpty, !name.isEmpty else { return false }
        if matches(Self.comparable(name)) { return true }
        let last = Self.lastPart(of: name)
        return last.utf8.count < name.utf8.count && matches(Self.comparable(String(last)))
    }

    private func matches(_ name: String) -> Bool {
        if whole.contains(name) { return true }
        let bytes = Array(name.utf8)
        let contains = { (part: [UInt8]) in bytes.firstRange(of: part, from: 0) != nil }
        guard !Self.continuations.contains(where: contains) else { return false }
        let stem = bytes.prefix(name.lastIndex { !$0.isNumber }.map { name[...$0].utf8.count } ?? 1)
        return endings.contains { bytes.hasSuffix($0) || stem.hasSuffix($0) } || parts.contains(where: contains)
    }

    /// Whether a name is also that of values that are no secrets, such as the `code` of a country.
    package static func isAmbiguous(_ name: String) -> Bool {
        ambiguous.contains(comparable(name)) || ambiguous.contains(comparable(String(lastPart(of: name))))
    }

    /// The name after the last bracket, dot or colon: `password` of `user[password][]`.
    private static func lastPart(of name: String) -> Substring {
        let parts = name.split { "[].:/".contains($0) }
        return parts.last { !$0.allSatisfy(\.isNumber) } ?? name[...]
    }

    /// A name in the form in which names are compared.
    private static func comparable(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// Tokens that only name the next page of a list.
    private static let continuations = ["page", "next", "continu", "cursor", "sync"].map { Array($0.utf8) }

    private static let ambiguous: Set = ["auth", "code", "cookies", "key", "pass", "session", "sid", "sig", "user"]
}

extension SecretNames {
    /// The header fields that are secret unless an app says otherwise.
    package static let standardFields: Set = [
        "Authorization", "*-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Cookie", "Cookie2",
        "Set-Cookie", "Set-Cookie2", "*API-Key", "*-Token", "Token", "*-JWT-*", "*-Secret", "*-Password",
        "*-Access-Key",
        "*-App-Key", "*-Application-Key", "*-Auth-Key", "*-Functions-Key", "*-Master-Key", "*-Session-ID",
        "*Subscription-Key",
        "*-SAS-Key", "*-User-Key", "*-OTP", "*CSRF*", "*HMAC*", "*XSRF*", "X-Auth", "X-Session",
    ]

    /// The items that are secret unless an app says otherwise.
    package static let standardItems: Set = [
        "*access_key", "*access_key_id", "*api_key", "assertion", "auth", "*auth_code", "*auth_key",
        "authorization_code", "bearer", "*client_assertion", "code", "code_verifier", "*connection_string", "cookies",
        "*credential", "*csrf*", "*encryption_key", "jwt", "*_jwt", "key", "otp", "totp", "pass", "passcode",
        "*passphrase", "passwd", "*_passwd", "*password", "*password_again", "*password_confirm",
        "*password_confirmation", "*password_hash", "*password_repeat", "*private_key", "pwd", "*_pwd",
        "SAMLResponse", "*secret", "*secret_key", "session", "*session_id", "*session_key", "*session_token",
        "jsessionid", "phpsessid", "sid", "sig", "*signature", "*signing_key", "*subscription_key", "*token",
        "verification_code", "*xsrf*",
    ]
}

extension SecretNames {
    /// Finds secrets in the decoded value of an item that is no secret itself.
    package typealias Search = (_ text: [UInt8]) -> [SecretSpan]

    /// A URL or reference without the secrets of its user information, path, query and fragment.
    package func url(_ text: String) -> String {
        guard text.utf8.contains(where: Self.mayBeginSecret) else { return text }
        let bytes = Array(text.utf8)
        let spans = spans(inURL: bytes)
        return spans.isEmpty ? text : String(decoding: spans.applied(to: bytes), as: UTF8.self)
    }

    /// A message, whose URLs have no secrets.
    package func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var spans: [SecretSpan] = []
        var place = 0
        while let mark = bytes.firstRange(of: Array("://".utf8), from: place) {
            let start = bytes[place..<mark].lastIndex { !$0.isSchemeCharacter }.map { $0 + 1 } ?? place
            var end = bytes[mark...].firstIndex(where: Self.endsURL) ?? bytes.count
            // The quotation marks of our messages.
            for quote in ["“", "”"] {
                end = bytes.firstRange(of: Array(quote.utf8), from: mark).map { min($0, end) } ?? end
            }
            while end > mark, ".,;:!?)".utf8.contains(bytes[end - 1]) { end -= 1 }
            spans += self.spans(inURL: Array(bytes[start..<max(start, end)])).map { $0.moved(by: start) }
            place = max(end, mark + 3)
        }
        return spans.isEmpty ? text : String(decoding: spans.applied(to: bytes), as: UTF8.self)
    }

    /// The secrets of a URL or reference.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - search: Finds secrets in decoded values; that of URLs by default.
    /// - Returns: The secrets.
    package func spans(inURL text: [UInt8], search: Search? = nil) -> [SecretSpan] {
        let fragment = text.firstIndex(of: UInt8(ascii: "#")) ?? text.count
        let query = text[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        var spans: [SecretSpan] = []
        var path = 0
        if let start = text[..<query].firstRange(of: Array("//".utf8), from: 0).map({ $0 + 2 }) {
            path = text[start..<query].firstIndex(of: UInt8(ascii: "/")) ?? query
            if hidesUserInfo, let at = text[start..<path].lastIndex(of: UInt8(ascii: "@")) {
                let colon = text[start..<at].firstIndex(of: UInt8(ascii: ":"))
                let value = Self.percentDecoded(text, (colon.map { $0 + 1 } ?? start)..<at, isForm: false).bytes
                let name = colon == nil ? "user" : "password"
                spans.append(SecretSpan(start..<at, name, value, replacement: Array(Self.encodedPlaceholder.utf8)))
            }
        }
        // Parameters of a path, such as `;jsessionid=…` (RFC 3986 §3.3).
        for segment in text[path..<query].split(separator: UInt8(ascii: "/")) {
            for item in segment.split(separator: UInt8(ascii: ";")).dropFirst() {
                spans += self.spans(inItem: text, item.indices, search: search)
            }
        }
        if query < fragment { spans += self.spans(inForm: text, query + 1..<fragment, search: search) }
        if fragment < text.count {
            // An OAuth grant is sent as a query in the fragment (RFC 6749 §4.2.2); a route in a page may have a query.
            let start = text[fragment...].firstIndex(of: UInt8(ascii: "?")) ?? fragment
            spans += self.spans(inForm: text, start + 1..<text.count, search: search)
        }
        return spans
    }

    /// The secrets of a query, or of a part of a text that is a form.
    ///
    /// They are found as bytes: a form need not be UTF-8, and Swift takes a `=` and a combining character after it for
    /// one other character.
    package func spans(inForm text: [UInt8], _ range: Range<Int>, search: Search? = nil) -> [SecretSpan] {
        text[range].split(separator: UInt8(ascii: "&")).flatMap { spans(inItem: text, $0.indices, search: search) }
    }

    private func spans(inItem text: [UInt8], _ range: Range<Int>, search: Search?) -> [SecretSpan] {
        guard let equals = text[range].firstIndex(of: UInt8(ascii: "=")) else { return [] }
        let value = equals + 1..<range.upperBound
        var name = Self.percentDecoded(text, range.lowerBound..<equals, isForm: true).bytes
        // In a page `&` is written as `&amp;`.
        if name.starts(with: "amp;".utf8) { name.removeFirst(4) }
        let decoded = Self.percentDecoded(text, value, isForm: true)
        if contains(String(decoding: name, as: UTF8.self)) {
            let replacement = Array(Self.encodedPlaceholder.utf8)
            return [SecretSpan(value, String(decoding: name, as: UTF8.self), decoded.bytes, replacement: replacement)]
        }
        guard decoded.bytes.contains(where: { "=:".utf8.contains($0) }) else { return [] }
        let inner = search.map { $0(decoded.bytes) } ?? spans(inURL: decoded.bytes, search: { _ in [] })
        return decoded.outer(inner) { $0.percentEncoded }
    }

    /// A part of a text without percent-encoding, of a form also with spaces in place of `+`.
    package static func percentDecoded(_ text: [UInt8], _ range: Range<Int>, isForm: Bool) -> DecodedPart {
        let isPlain = !text[range].contains { $0 == UInt8(ascii: "%") || (isForm && $0 == UInt8(ascii: "+")) }
        if isPlain { return DecodedPart(text, range) }
        var part = DecodedPart(for: range)
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = text[place]
            if let decoded = percentDecodedByte(text, at: place, end: range.upperBound) {
                part.append(decoded, at: place)
                place += 3
            } else {
                part.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte, at: place)
                place += 1
            }
        }
        return part
    }

    private static func mayBeginSecret(_ byte: UInt8) -> Bool { "?#@;".utf8.contains(byte) }

    private static func endsURL(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"<>`".utf8.contains(byte) }
}

extension StringProtocol {
    /// A URL for the message of an error, which users see and crash reports pass on: without user, password, query and
    /// fragment, whatever names they have, escaped and cut as any text of others.
    package var shownURL: String {
        let base = prefix { $0 != "?" && $0 != "#" }
        let shown = SecretNames.standard.url(String(base)).replacing(SecretNames.encodedPlaceholder + "@", with: "")
        return shown.shown(upTo: 2_000)
    }
}

/// A secret within a text, and the bytes that replace it.
package struct SecretSpan: Sendable {
    /// The place of the secret in the text, in bytes.
    package var range: Range<Int>
    /// The bytes that replace the secret, in the coding of the text.
    package var replacement: [UInt8]
    /// The name of the secret.
    package let name: String
    /// The secret without the text's codings.
    package let value: [UInt8]

    package init(_ range: Range<Int>, _ name: String, _ value: [UInt8], replacement: [UInt8]) {
        self.range = range
        self.replacement = replacement
        self.name = name
        self.value = value
    }
}

extension [SecretSpan] {
    /// The spans in the order of the text; of two that overlap, the one that begins first.
    package var inOrder: [SecretSpan] {
        var result: [SecretSpan] = []
        let sorted = sorted {
            ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
        }
        for span in sorted {
            guard let last = result.last, span.range.lowerBound < last.range.upperBound else {
                result.append(span)
                continue
            }
            // A secret that ends later must not be left over.
            if span.range.upperBound > last.range.upperBound {
                result[result.count - 1].range = last.range.lowerBound..<span.range.upperBound
            }
        }
        return result
    }

    /// The text with the replacements; all other bytes stay as they are.
    package func applied(to text: [UInt8]) -> [UInt8] {
        guard !isEmpty else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count + count * SecretNames.encodedPlaceholder.utf8.count)
        var place = 0
        for span in inOrder {
            result += text[place..<span.range.lowerBound] + span.replacement
            place = span.range.upperBound
        }
        return result + text[place...]
    }
}

/// A part of a text without its coding, and the places of its bytes in the text.
package struct DecodedPart: Sendable {
    /// The bytes without the coding.
    package private(set) var bytes: [UInt8]
    /// The index of each byte in the text; nil while all of them follow one another.
    private var places: [Int]?
    private let range: Range<Int>

    /// Makes a part of a text that has no codings.
    package init(_ text: [UInt8], _ range: Range<Int>) {
        bytes = Array(text[range])
        self.range = range
    }

    /// Makes an empty part of a text, to which bytes are added.
    package init(for range: Range<Int>) {
        (bytes, places) = ([], [])
        self.range = range
    }

    /// Adds a byte.
    package mutating func append(_ byte: UInt8, at place: Int) {
        bytes.append(byte)
        places?.append(place)
    }

    /// The spans of the decoded bytes as spans of the text, whose coding `encode` adds.
    package func outer(_ spans: [SecretSpan], encode: ([UInt8]) -> [UInt8]) -> [SecretSpan] {
        spans.map { span in
            var outer = span
            outer.range = place(span.range.lowerBound)..<place(span.range.upperBound)
            outer.replacement = encode(span.replacement)
            return outer
        }
    }

    private func place(_ index: Int) -> Int {
        guard index < bytes.count else { return range.upperBound }
        return places.map { $0[index] } ?? range.lowerBound + index
    }
}

extension SecretSpan {
    /// The span in a text that has `offset` bytes more before it.
    package func moved(by offset: Int) -> SecretSpan {
        var span = self
        span.range = range.lowerBound + offset..<range.upperBound + offset
        return span
    }
}

extension RandomAccessCollection<UInt8> {
    fileprivate func hasSuffix(_ bytes: [UInt8]) -> Bool { suffix(bytes.count).elementsEqual(bytes) }
}

extension Collection<UInt8> where Index == Int {
    /// The index at which some bytes begin for the first time.
    package func firstRange(of bytes: [UInt8], from start: Int) -> Int? {
        guard let first = bytes.first else { return start }
        var place = start
        while place < endIndex, let found = self[place...].firstIndex(of: first) {
            if self[found...].starts(with: bytes) { return found }
            place = found + 1
        }
        return nil
    }
}
