#if Gateway
import Synchronization

/// The origins of the authorities that were read last: a browser sends the same ones with each request, in `Host` and in
/// `Referer`.
final class KnownNames: Sendable {
    /// When there are more, all are dropped.
    private static let limit = 64

    private let origins = Mutex<[String: OriginName]>([:])

    /// The origin of an authority.
    ///
    /// - Parameters:
    ///   - authority: The value of a `Host` field, or the authority of a URL.
    ///   - read: Reads the authority if it is not known.
    /// - Returns: The origin; nil if the authority names none.
    func origin(of authority: String, _ read: (String) -> OriginName?) -> OriginName? {
        if let known = origins.withLock({ $0[authority] }) { return known }
        guard let origin = read(authority) else { return nil }
        origins.withLock { origins in
            if origins.count >= Self.limit { origins.removeAll(keepingCapacity: true) }
            origins[authority] = origin
        }
        return origin
    }
}
#endif
