import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// The `httpAdditionalHeaders` as text; their names and values may be of any type.
    package var additionalFields: [String: String] {
        (httpAdditionalHeaders ?? [:]).reduce(into: [:]) { $0["\($1.key)"] = "\($1.value)" }
    }
}
