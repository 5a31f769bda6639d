import Foundation
package import FoundationNetworking
import HTTPTypes
package import WaystationCaching

extension HTTPURLResponse {
    /// Whether the body came in a content coding, which Foundation took off.
    package var isCoded: Bool {
        guard let coding = value(forHTTPHeaderField: "Content-Encoding") else { return false }
        return !coding.isEmpty && coding.lowercased() != "identity"
    }

    /// How many bytes the body as it is delivered must have; nil where the fields do not say.
    package var statedLength: Int? {
        guard !isCoded, case .bytes(let count) = ContentLength(value(forHTTPHeaderField: "Content-Length")) else {
            return nil
        }
        return count
    }

    /// Why it cannot be known whether the body arrives whole.
    ///
    /// - Parameter storesCodedBodies: Whether the app vouches for bodies in a content coding.
    /// - Returns: The reason not to store the response; nil where its end is certain.
    package func doubt(storesCodedBodies: Bool) -> StoringRefusal? {
        let length = ContentLength(value(forHTTPHeaderField: "Content-Length"))
        let hasTransferCoding = value(forHTTPHeaderField: "Transfer-Encoding") != nil
        if length == .invalid || (length != .absent && hasTransferCoding) { return .uncertainLength }
        return isCoded && !storesCodedBodies ? .uncheckedCoding : nil
    }
}

extension StoringDecision {
    /// The detail of `Cache-Status` for a refusal that nothing else in the response explains.
    var detail: String? {
        switch self {
        case .refuse(.uncertainLength): "uncertain-length"
        case .refuse(.uncheckedCoding): "content-coding"
        case .refuse, .store: nil
        }
    }
}

extension URLRequest {
    /// The request for a body without content coding, unless the app chose the codings.
    var withoutCodings: URLRequest {
        guard value(forHTTPHeaderField: Self.acceptedCodings) == nil else { return self }
        var request = self
        request.setValue("identity", forHTTPHeaderField: Self.acceptedCodings)
        return request
    }

    private static let acceptedCodings = "Accept-Encoding"
}
