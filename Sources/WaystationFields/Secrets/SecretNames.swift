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
    private var endings: Set<String> = []
    private var parts: Set<String> = []

    /// Makes a list.
    package init(_ names: some Sequence<String>, hidesUserInfo: Bool = true) {
        self.hidesUserInfo = hidesUserInfo
        for name in names {
            let text = Self.comparable(name.filter { $0 != "*" })
            guard !text.isEmpty else { continue }
            switch (name.hasPrefix("*"), name.hasSuffix("*")) {
            case (true, true): parts.insert(text)
            case (true, false): endings.insert(text)
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
        guard !Self.continuations.contains(where: name.contains) else { return false }
        let end = name.lastIndex { !$0.isNumber } ?? name.startIndex
        let stem = name[...end]
        return endings.contains { name.hasSuffix($0) || stem.hasSuffix($0) } || parts.contains(where: name.contains)
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
    private static let continuations = ["page", "next", "continu", "cursor", "sync"]

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
