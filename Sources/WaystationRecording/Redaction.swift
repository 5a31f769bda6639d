package import Foundation

/// The secrets that are left out of a recording, by the names of the fields and items that contain them.
///
/// Names are compared without regard to case; the names of items also without `_` and `-`, so that `access_token` hides
/// `accessToken` too. A value that is left out is replaced with ``placeholder``. Bodies of requests are searched when
/// they are forms, or JSON of whatever type. `HARRecorder` and exports write the bodies of responses unchanged; a
/// `Recording` of WaystationTesting searches those, too.
public struct Redaction: Sendable, Hashable {
    /// The text that replaces a secret: `[redacted]`.
    public static let placeholder = "[redacted]"

    /// The fields whose values, and the cookies in them, are left out.
    public var fieldNames: Set<String>
    /// The items whose values are left out: query items of URLs, form items, and JSON members.
    public var itemNames: Set<String>
    /// Whether user names and passwords are left out of URLs.
    public var hidesUserInfo: Bool

    /// Makes a redaction of these names.
    public init(fieldNames: Set<String>, itemNames: Set<String>, hidesUserInfo: Bool = true) {
        self.fieldNames = fieldNames
        self.itemNames = itemNames
        self.hidesUserInfo = hidesUserInfo
    }

    /// Leaves out credentials and cookies, and fields and items that commonly have a token, a key or a password.
    public static let standard = Redaction(
        fieldNames: [
            "Authorization", "Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Cookie",
            "Cookie2", "Set-Cookie", "Set-Cookie2", "X-API-Key", "X-Auth-Token", "X-Access-Token", "X-CSRF-Token",
            "X-XSRF-Token", "X-Amz-Security-Token",
        ],
        itemNames: [
            "access_token", "api_key", "apikey", "auth", "auth_token", "client_secret", "id_token", "jwt", "key",
            "passwd", "password", "pwd", "refresh_token", "secret", "session", "session_id", "session_token", "sid",
            "sig", "signature", "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ]
    )

    /// Leaves nothing out: with such a recording, its reader can log in wherever its author was logged in.
    public static let none = Redaction(fieldNames: [], itemNames: [], hidesUserInfo: false)

    func hides(field name: String) -> Bool { fieldNames.contains { $0.caseInsensitiveCompare(name) == .orderedSame } }

    func hides(item name: String) -> Bool {
        let name = Self.comparable(name)
        return itemNames.contains { Self.comparable($0) == name }
    }

    /// A name in the form in which the names of items are compared.
    private static func comparable(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }
}

extension Redaction {
    private static let encodedPlaceholder = "%5Bredacted%5D"

    /// A field's value, without secrets.
    package func value(_ value: String, ofField name: String) -> String {
        if hides(field: name) { return Self.placeholder }
        switch name.lowercased() {
        case "location", "content-location", "referer": return url(value)
        default: return value
        }
    }

    /// A URL or reference, without the secrets of its query and its fragment.
    package func url(_ text: String) -> String {
        guard text.utf8.contains(where: Self.beginsSecrets) else { return text }
        var base = Substring(text)
        var fragment: Substring?
        var query: Substring?
        if let mark = base.firstIndex(of: "#") {
            fragment = base[base.index(after: mark)...]
            base = base[..<mark]
        }
        if let mark = base.firstIndex(of: "?") {
            query = base[base.index(after: mark)...]
            base = base[..<mark]
        }
        var result = withoutUserInfo(base)
        if let query { result += "?" + String(decoding: form(query.utf8), as: UTF8.self) }
        // An OAuth grant is sent as a query in the fragment (RFC 6749 §4.2.2).
        if let fragment { result += "#" + String(decoding: form(fragment.utf8), as: UTF8.self) }
        return result
    }

    /// Whether a byte is at a border of one of the parts of a URL that may have secrets.
    private static func beginsSecrets(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "@")
    }

    private func withoutUserInfo(_ base: Substring) -> String {
        guard hidesUserInfo, let start = base.range(of: "//")?.upperBound else { return String(base) }
        let end = base[start...].firstIndex(of: "/") ?? base.endIndex
        guard let at = base[start..<end].lastIndex(of: "@") else { return String(base) }
        return base[..<start] + Self.encodedPlaceholder + base[at...]
    }

    /// A query or the body of a form, without secrets.
    ///
    /// It is split as bytes: a form need not be UTF-8, and Swift takes a `=` and a combining character after it for one
    /// other character.
    private func form(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let items = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return Array(item) }
            let name = Self.decoded(String(decoding: item[..<equals], as: UTF8.self))
            return hides(item: name) ? item[...equals] + Array(Self.encodedPlaceholder.utf8) : Array(item)
        }
        return Array(items.joined(separator: [UInt8(ascii: "&")]))
    }

    /// The decoded text of a part of a query.
    static func decoded(_ text: some StringProtocol) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }

    /// Whether the first byte that is not white space begins a JSON object or array.
    package static func beginsAsJSON(_ data: Data) -> Bool {
        data.first { !" \t\r\n".utf8.contains($0) }.map("{[".utf8.contains) ?? false
    }

    /// A body without secrets.
    package func body(_ data: Data, type: String) -> Data {
        guard !itemNames.isEmpty else { return data }
        let type = type.lowercased()
        // JSON comes first: `curl -d` sends it with the type of a form, and a body without a type counts as a form, too.
        if type.contains("json") || Self.beginsAsJSON(data),
            let object = try? JSONSerialization.jsonObject(with: data)
        {
            let (hidden, hasSecrets) = json(object)
            guard hasSecrets else { return data }
            return (try? JSONSerialization.data(withJSONObject: hidden, options: [.sortedKeys]))
                ?? Data(Self.placeholder.utf8)
        }
        let isForm = type.hasPrefix("application/x-www-form-urlencoded")
        return guarded(isForm ? Data(form(data)) : data)
    }

    /// A response's body without secrets: unlike ``body(_:type:)`` it leaves pages and files alone, which may only name
    /// a secret, as a form for a log-in does.
    package func responseBody(_ data: Data, type: String) -> Data {
        let essence = type.lowercased()
        let isSearched = essence.contains("json") || essence.hasPrefix("application/x-www-form-urlencoded")
        return isSearched ? body(data, type: type) : data
    }

    /// A body of an unknown format, or only the placeholder when the body names a secret.
    private func guarded(_ data: Data) -> Data {
        let text = Self.comparable(String(decoding: data, as: UTF8.self))
        let namesSecret = itemNames.contains { name in
            let name = Self.comparable(name)
            return text.contains("name=\"\(name)\"") || text.contains("\"\(name)\"")
        }
        return namesSecret ? Data(Self.placeholder.utf8) : data
    }

    private func json(_ value: Any) -> (Any, hasSecrets: Bool) {
        switch value {
        case let object as [String: Any]:
            var result: [String: Any] = [:]
            var hasSecrets = false
            for (name, member) in object {
                if hides(item: name) {
                    result[name] = Self.placeholder
                    hasSecrets = true
                } else {
                    let (hidden, isChanged) = json(member)
                    result[name] = hidden
                    hasSecrets = hasSecrets || isChanged
                }
            }
            return (result, hasSecrets)
        case let array as [Any]:
            let members = array.map(json)
            return (members.map(\.0), members.contains { $0.hasSecrets })
        default: return (value, false)
        }
    }
}
