package import Foundation
package import WaystationHTTP

/// The secrets that are left out of a recording, by the names of the fields and items that contain them.
///
/// Names are compared without regard to case, `_` and `-`, so that `access_token` hides `accessToken` too. Of a name that
/// is a path, such as `user[password]`, the last part is compared as well. A name that begins with `*` hides all names
/// that end with the rest of it: `*token` hides `PRIVATE-TOKEN`. Each name hides fields and items: what is a field of one
/// service is a member of another one's JSON.
///
/// A value that is left out is replaced with ``placeholder``; everything around it keeps its bytes and its order. Bodies
/// of requests are searched whatever their type: forms, JSON, also several documents one after the other, XML, multipart
/// bodies and plain text, and such texts within one another. `HARRecorder` and exports write the bodies of responses
/// unchanged; a `Recording` of WaystationTesting searches those, too.
public struct Redaction: Sendable, Hashable {
    /// The text that replaces a secret: `[redacted]`.
    public static let placeholder = SecretNames.placeholder

    /// The fields whose values, and the cookies in them, are left out.
    public var fieldNames: Set<String> { didSet { names = Self.names(self) } }
    /// The items whose values are left out: query items of URLs, form items, JSON members, elements and attributes of XML.
    public var itemNames: Set<String> { didSet { names = Self.names(self) } }
    /// Whether user names and passwords are left out of URLs.
    public var hidesUserInfo: Bool { didSet { names = Self.names(self) } }
    /// All names, in the form in which they are compared.
    package private(set) var names: SecretNames

    /// Makes a redaction of these names.
    public init(fieldNames: Set<String>, itemNames: Set<String>, hidesUserInfo: Bool = true) {
        self.fieldNames = fieldNames
        self.itemNames = itemNames
        self.hidesUserInfo = hidesUserInfo
        names = SecretNames(fieldNames.union(itemNames), hidesUserInfo: hidesUserInfo)
    }

    private static func names(_ redaction: Redaction) -> SecretNames {
        SecretNames(redaction.fieldNames.union(redaction.itemNames), hidesUserInfo: redaction.hidesUserInfo)
    }

    /// Leaves out credentials and cookies, and fields and items that commonly have a token, a key or a password.
    public static let standard = Redaction(
        fieldNames: SecretNames.standardFields,
        itemNames: SecretNames.standardItems
    )

    /// Leaves nothing out: with such a recording, its reader can log in wherever its author was logged in.
    public static let none = Redaction(fieldNames: [], itemNames: [], hidesUserInfo: false)

    func hides(field name: String) -> Bool { names.contains(name) }
}

extension Redaction {
    /// A field's value, without secrets.
    package func value(_ value: String, ofField name: String) -> String {
        if hides(field: name) { return Self.placeholder }
        switch name.lowercased() {
        case "location", "content-location", "referer": return url(value)
        default:
            var search = SecretSearch(names, isRequest: false)
            let bytes = Array(value.utf8)
            let spans = search.spans(inField: bytes)
            return spans.isEmpty ? value : String(decoding: spans.applied(to: bytes), as: UTF8.self)
        }
    }

    /// A URL or reference without secrets.
    package func url(_ text: String) -> String {
        guard text.utf8.contains(where: { "?#@;".utf8.contains($0) }) else { return text }
        var search = SecretSearch(names, isRequest: true)
        let bytes = Array(text.utf8)
        let spans = names.spans(inURL: bytes) { search.nested($0) }
        return spans.isEmpty ? text : String(decoding: spans.applied(to: bytes), as: UTF8.self)
    }

    /// A message, whose URLs have no secrets.
    package func text(_ text: String) -> String { names.text(text) }

    /// The decoded text of a part of a query.
    static func decoded(_ text: some StringProtocol) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }

    /// The body of a request without secrets; only its secrets are replaced.
    package func body(_ data: Data, type: String) -> Data {
        guard !names.isEmpty else { return data }
        let text = Array(data)
        var search = SecretSearch(names, isRequest: true)
        let spans = search.spans(in: text, type: type)
        if !spans.isEmpty { return Data(spans.applied(to: text)) }
        return namesSecret(data) ? Data(Self.placeholder.utf8) : data
    }

    /// The body of a response without secrets; only its secrets are replaced.
    ///
    /// Pages and programs may only name a secret, as a form for a log-in does; of those, values that look random are
    /// replaced.
    package func responseBody(_ data: Data, type: String) -> Data {
        guard !names.isEmpty else { return data }
        let text = Array(data)
        var search = SecretSearch(names, isRequest: false)
        let spans = search.spans(in: text, type: type)
        return spans.isEmpty ? data : Data(spans.applied(to: text))
    }

    /// Whether a body of an unknown format names a secret whose value was not found.
    private func namesSecret(_ data: Data) -> Bool {
        guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) == nil else { return false }
        return SecretSearch.quotedNames(Array(data)).contains(where: names.contains)
    }
}
