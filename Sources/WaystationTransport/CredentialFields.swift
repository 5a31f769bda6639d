/// The header fields that carry credentials, and so must be sent to one origin only.
package enum CredentialFields {
    package static let names = ["Authorization", "Cookie", "Proxy-Authorization"]

    package static func contains(_ name: String) -> Bool {
        names.contains { $0.lowercased() == name.lowercased() }
    }
}
