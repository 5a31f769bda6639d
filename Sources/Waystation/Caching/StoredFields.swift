import Foundation
package import HTTPTypes
import WaystationFields

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The header fields of a response as they are stored: of the decoded, whole representation.
///
/// Foundation decodes a body and leaves the fields as they arrived. Fields that described the transfer or the coded
/// bytes are no longer true for the stored body (RFC 9110 §8.4, §8.6, RFC 9111 §3.1).
package enum StoredFields {
    /// The fields to store, without `Content-Length`: the code that reads the stored response knows the length and adds
    /// it.
    package static func normalized(_ head: [String: String]) -> HTTPFields {
        let listed = connection(head)?.listMembers.compactMap { HTTPField.Name($0) } ?? []
        var fields = HTTPFields(head) { !hopByHop.contains($0.canonicalName) && !listed.contains($0) }
        // The first question by a name makes a table of all names.
        if fields.contains(where: { $0.name == .contentEncoding }),
            ContentCodings(fields[values: .contentEncoding]).areRemoved
        {
            fields[.contentEncoding] = nil
            // The strong validator of coded bytes is not valid for the decoded ones (RFC 9110 §8.8.3.3).
            if let tag = fields[.eTag], !tag.hasPrefix("W/") { fields[.eTag] = "W/" + tag }
        }
        return fields
    }

    private static func connection(_ head: [String: String]) -> String? {
        head["Connection"] ?? head.first { $0.key.utf8.count == 10 && $0.key.lowercased() == "connection" }?.value
    }

    /// Names in lower case.
    private static let hopByHop: Set<String> = [
        "connection", "transfer-encoding", "te", "trailer", "upgrade", "proxy-authenticate", "proxy-authorization",
        "keep-alive", "proxy-connection", "proxy-authentication-info", "cache-status", "set-cookie", "set-cookie2",
        "content-length",
    ]
}
