package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// The message of the library's own error, if that is the cause.
    package var reason: String {
        (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.message ?? localizedDescription
    }
}
