package import Foundation
package import WaystationCaching

/// The parts of an interceptor that a tool shows to developers.
extension Interceptor {
    /// The rules as the app wrote them.
    package var rules: [Rule] { configuration.rules }

    /// The response cache; nil if the interceptor has none.
    package var cache: ResponseCache? { configuration.cache }

    /// The rules of caching, by which the freshness of a stored response is calculated.
    package var cachingRules: CachingRules { configuration.cachingRules }

    /// The clock.
    package var now: @Sendable () -> Date { configuration.now }

    /// Gives all exchanges of loads that begin from now on to one more recorder, and returns the function that removes
    /// it.
    package func addRecorder(_ recorder: any ExchangeRecorder) -> @Sendable () -> Void {
        environment.recorders.add(recorder)
    }
}
