/// The header fields that carry credentials, and so must be sent to one origin only.
enum CredentialFields {
    static let names = ["Authorization", "Cookie", "Proxy-Authorization"]

    static func contains(_ name: String) -> Bool {
        names.contains { $0.lowercased() == name.lowercased() }
    }
}
