import Crypto
import Foundation
package import FoundationNetworking
package import HTTPTypes
package import WaystationStorage

/// What the archive needs to know of a request: its key, and the fields that `Vary` may name.
package struct ArchiveEntry: Sendable {
    package var key: RequestKey
    package var requestFields: HTTPFields

    /// The entry for a request, or nil when its response can be neither stored nor answered from the store:
    /// only a plain GET for a whole representation can.
    ///
    /// Requests with credentials in `Authorization` have a partition of their own for each value, so that the
    /// responses of one login never answer another.
    package init?(_ request: URLRequest, canonical url: String) {
        guard (request.httpMethod ?? "GET") == "GET", request.httpBodyStream == nil, request.httpBody?.isEmpty ?? true
        else { return nil }
        requestFields = HTTPFields(request.allHTTPHeaderFields ?? [:])
        for name in Self.conditionalFields where requestFields.contains(name) { return nil }
        key = RequestKey(
            method: "GET",
            url: url,
            partition: requestFields[.authorization].map(Partition.name(for:)) ?? ""
        )
    }

    /// A request with one of these is a matter between the app and the server.
    private static let conditionalFields: [HTTPField.Name] = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange,
    ]

    /// Whether the archive keeps a response with this head: a whole representation, or word that it is gone for good.
    ///
    /// Redirects are followed before anything is stored.
    ///
    /// `no-store` is honoured although ages are not: it is about privacy. `Vary: *` matches no later request
    /// (RFC 9111 §4.1).
    package static func isStorable(_ head: HTTPURLResponse) -> Bool {
        guard [200, 203, 204, 410].contains(head.statusCode) else { return false }
        let directives = (head.value(forHTTPHeaderField: "Cache-Control") ?? "").lowercased()
            .split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return !directives.contains("no-store") && !HTTPFields.names(in: head.value(forHTTPHeaderField: "Vary")).isStar
    }

    /// The request's values of the fields that the response's `Vary` names.
    package func vary(of head: HTTPURLResponse) -> VaryRecord {
        VaryRecord(nominating: HTTPFields.names(in: head.value(forHTTPHeaderField: "Vary")).names, in: requestFields)
    }

    /// The newest of the stored variants that answers the request.
    package func selected(from variants: [StoredResponse]) -> StoredResponse? {
        variants.first { $0.vary.matches(requestFields) }
    }
}

/// The names of the parts of a store that belong to one login each.
enum Partition {
    /// A name that tells two credentials apart and reveals neither.
    static func name(for credentials: String) -> String {
        SHA256.hash(data: Data(credentials.utf8)).prefix(16).map { String(format: "%02x", $0) }.joined()
    }
}
