package import HTTPTypes
import Synchronization

extension HTTPFields {
    /// The fields without those that apply to the connection only or to a proxy (RFC 9111 §3.1), and without those that
    /// `Connection` lists.
    func withoutConnectionFields() -> HTTPFields {
        var excluded = ConnectionFields.all
        if let connection = self[.connection] { excluded.formUnion(ConnectionFields.named(by: [connection])) }
        guard contains(where: { excluded.contains($0.name.canonicalName) }) else { return self }
        return HTTPFields(filter { !excluded.contains($0.name.canonicalName) })
    }

    /// All lines of a field as one value; nil if the message has no such field.
    ///
    /// A single line is returned without a new string.
    func combined(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        guard self[(first + 1)...].contains(where: { $0.name == name }) else { return self[first].value }
        return self[name]
    }

    /// The first line of a field that should have only one.
    package func firstValue(_ name: HTTPField.Name) -> String? {
        first { $0.name == name }?.value
    }
}

/// Field names that were parsed before, so that the few common names are not parsed again for each message.
package enum KnownFieldNames {
    private static let known = Mutex<[String: HTTPField.Name]>([:])

    /// The name with this spelling; nil if it is not a valid name.
    package static func name(_ text: String) -> HTTPField.Name? {
        if let name = known.withLock({ $0[text] }) { return name }
        guard let name = HTTPField.Name(text) else { return nil }
        // Servers choose the names, so the table stops growing before it could take much memory.
        known.withLock { if $0.count < 512 { $0[text] = name } }
        return name
    }
}

extension HTTPRequest {
    /// The target URI as the request has it, without a fragment; nil when the scheme or the authority is missing.
    var targetURI: String? {
        guard let scheme, let authority, !authority.isEmpty else { return nil }
        var path = path ?? "/"
        if !path.hasPrefix("/") { path = "/" + path }
        return "\(scheme)://\(authority)\(path)"
    }
}

extension CanonicalURL {
    /// Resolves the value of a field, such as `Location`, against this URL; nil if the result is another origin's (RFC 9110
    /// §4.3.1), or none.
    func ofSameOrigin(_ field: String) -> CanonicalURL? {
        resolving(FieldText.percentEncoded(field)).flatMap { $0.origin == origin ? $0 : nil }
    }
}

extension HTTPDate {
    /// Reads a date as a cache does, case-insensitively (RFC 9111 §4.2).
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time, for two-digit years.
    package init?(cached text: String, now: HTTPDate) {
        self.init(text, now: now, ignoringCase: true)
    }

    /// Seconds since 1970, for calculations.
    var moment: Double { Double(secondsSinceEpoch) }
}
