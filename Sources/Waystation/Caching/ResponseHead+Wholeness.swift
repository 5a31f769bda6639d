import Foundation
import HTTPTypes
package import WaystationCaching
import WaystationFields
package import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ResponseHead {
    /// Whether the body arrived in a content coding, which the engine has decoded.
    package var isCoded: Bool {
        value(forHTTPHeaderField: "Content-Encoding").map { ContentCodings([$0]).areRemoved } ?? false
    }

    /// The number of bytes that the delivered body must have; nil when the fields do not state it.
    package var statedLength: Int? {
        guard !isCoded, case .bytes(let count) = ContentLength(value(forHTTPHeaderField: "Content-Length")) else {
            return nil
        }
        return count
    }

    /// Why the library cannot check that the body arrives complete.
    ///
    /// - Parameter storesCodedBodies: Whether the app trusts its servers not to cut bodies.
    /// - Returns: The reason not to store the response; nil when the end of the body is certain.
    package func doubt(storesCodedBodies: Bool) -> StoringRefusal? {
        let length = ContentLength(value(forHTTPHeaderField: "Content-Length"))
        let hasTransferCoding = value(forHTTPHeaderField: "Transfer-Encoding") != nil
        if length == .invalid || (length != .absent && hasTransferCoding) { return .uncertainLength }
        // In plain TCP, the end of the connection is the end of such a body (RFC 9112 §6.3); a 204 has none.
        if hidesCuts, length == .absent, !hasTransferCoding, !storesCodedBodies, statusCode != 204,
            url?.scheme?.lowercased() == "https"
        {
            return .uncertainLength
        }
        return isCoded && !storesCodedBodies ? .uncheckedCoding : nil
    }
}

extension StoringDecision {
    /// The detail of `Cache-Status` for a refusal that no other part of the response explains.
    var detail: String? {
        switch self {
        case .refuse(.uncertainLength): "uncertain-length"
        case .refuse(.uncheckedCoding): "content-coding"
        case .refuse, .store: nil
        }
    }
}

extension URLRequest {
    /// The request for a body without content coding, unless the app set `Accept-Encoding` itself.
    var withoutCodings: URLRequest {
        guard value(forHTTPHeaderField: Self.acceptedCodings) == nil else { return self }
        var request = self
        request.setValue("identity", forHTTPHeaderField: Self.acceptedCodings)
        return request
    }

    private static let acceptedCodings = "Accept-Encoding"
}
