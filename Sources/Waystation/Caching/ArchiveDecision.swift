package import Foundation
package import FoundationNetworking

/// What a cache strategy says about a request, given what is stored: a function of values.
package enum ArchiveDecision: Equatable, Sendable {
    /// Serve what is stored; renew it in the background afterwards when asked to.
    case serve(renewing: Bool)
    /// Ask the network and store its answer; `usesFallback` says that what is stored stands in when the network
    /// fails, or does not begin to answer within `timeout`.
    case forward(CacheStatus.ForwardReason, usesFallback: Bool, timeout: Duration?)
    /// Ask the network and store nothing.
    case bypass
    /// Nothing may be asked and nothing is stored.
    case unavailable

    /// Decides.
    ///
    /// - Parameters:
    ///   - strategy: The rule's.
    ///   - policy: The request's, which goes before it.
    ///   - age: How long ago the stored response arrived, in seconds, or nil when none is stored. A negative
    ///     age, from a clock set back, counts as zero.
    /// - Returns: What to do.
    package static func make(
        _ strategy: CacheStrategy,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        age: TimeInterval?
    ) -> ArchiveDecision {
        let age = age.map { max($0, 0) }
        let miss = ArchiveDecision.forward(.uriMiss, usesFallback: false, timeout: nil)
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData:
            // Validators are not kept yet, so revalidating is loading anew.
            return strategy.kind == .networkOnly ? .bypass : .forward(.request, usesFallback: false, timeout: nil)
        case .returnCacheDataElseLoad:
            return age == nil ? miss : .serve(renewing: false)
        case .returnCacheDataDontLoad:
            return age == nil ? .unavailable : .serve(renewing: false)
        case .useProtocolCachePolicy: break
        @unknown default: break
        }
        switch strategy.kind {
        case .networkOnly:
            return .bypass
        case .cacheOnly:
            return age == nil ? .unavailable : .serve(renewing: false)
        case .networkFirst(let timeout):
            guard age != nil else { return miss }
            return .forward(.request, usesFallback: true, timeout: timeout)
        case .cacheFirst(let limit):
            guard let age else { return miss }
            guard age < limit.inSeconds else { return .forward(.stale, usesFallback: false, timeout: nil) }
            return .serve(renewing: false)
        case .staleWhileRevalidate(let limit):
            guard let age else { return miss }
            guard age < limit.inSeconds else { return .forward(.stale, usesFallback: false, timeout: nil) }
            return .serve(renewing: true)
        }
    }
}
