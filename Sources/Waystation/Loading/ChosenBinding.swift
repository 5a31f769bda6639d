import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The binding that was chosen for a task before its protocol was made, with the visit that was made for it.
///
/// It reaches the protocol in the place of a cached response, as a ``PreparedVisit`` does.
///
/// `@unchecked Sendable` because the superclass is; the properties added here are constants.
final class ChosenBinding: CachedURLResponse, @unchecked Sendable {
    let binding: Binding
    let prepared: CachedURLResponse?

    init(_ binding: Binding, _ prepared: CachedURLResponse?) {
        self.binding = binding
        self.prepared = prepared
        super.init(response: PreparedVisit.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// Choices are never archived.
    required init?(coder: NSCoder) { nil }
}
