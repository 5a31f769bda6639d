package import HTTPTypes
import Synchronization

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
