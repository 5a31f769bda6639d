#if Gateway
import Foundation
import Waystation
import WaystationFields

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Refusal {
    /// The answer for a load that failed before its response began.
    ///
    /// - Parameters:
    ///   - error: The error of the load.
    ///   - url: The URL of the request.
    init(_ error: any Error, for url: URL?) {
        let error = (error as? URLError) ?? URLError(.unknown)
        let cause = error.userInfo[NSUnderlyingErrorKey] as? WaystationError
        let name = url.map { SecretNames.standard.url($0.absoluteString).prefix(2_000) } ?? "the request"
        let reason = cause?.message ?? error.localizedDescription
        let status =
            switch (cause?.code, error.code) {
            case (.blocked, _), (.loginOutOfDomain, _): 403
            case (.notFound, _): 404
            case (.invalidHeaderBody, _): 400
            case (.headerBodyTooLarge, _): 413
            case (.notStored, _): 504
            case (_, .timedOut): 504
            case (_, .userAuthenticationRequired): 401
            case (_, .notConnectedToInternet), (_, .cancelled): 503
            default: 502
            }
        self.init(status: status, message: "\(name) cannot be loaded: \(reason)")
    }
}
#endif
