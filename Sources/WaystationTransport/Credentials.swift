import WaystationFields
import WaystationFoundation

/// The header fields that carry credentials, and so must be sent to one origin only.
package enum CredentialFields {
    package static let names = ["Authorization", "Cookie", "Proxy-Authorization"]

    package static func contains(_ name: String) -> Bool {
        names.contains { $0.equalsIgnoringCase(name) }
    }
}

/// The user and the password of the Basic scheme (RFC 7617 §2).
package struct BasicCredentials: Sendable {
    private let user: String
    private let password: String

    /// Makes credentials of their parts.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Reads the user information of a URL, in which user and password are percent-encoded.
    package init(userInfo: Substring) {
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            String(part).removingPercentEncoding ?? String(part)
        }
        self.init(user: parts.first ?? "", password: parts.count > 1 ? parts[1] : "")
    }

    /// Whether there is neither a user nor a password.
    package var isEmpty: Bool { user.isEmpty && password.isEmpty }

    /// The value of `Authorization` or `Proxy-Authorization`.
    package var fieldValue: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
