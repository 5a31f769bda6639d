public import Waystation

extension Route {
    /// The network, with faults.
    ///
    /// ```swift
    /// $0.rules = [
    ///     .allow("https://api.example/**", via: .network(faults: .flaky(seed: 7))),
    ///     .allow("https://img.example/**", via: .network(faults: .slow3G)),
    /// ]
    /// ```
    ///
    /// Requests are sent by the interceptor's own engine. Their responses are not stored, and lost connections are not
    /// repeated, so that the code under test sees each fault. Uploads of a delegate's stream and web sockets of the rule
    /// fail with an explanation, because only Foundation can load them, without faults.
    ///
    /// - Parameters:
    ///   - faults: The faults.
    ///   - time: How delays pass; as on a clock by default.
    /// - Returns: The route.
    public static func network(faults: Faults, time: DelayTime = .real) -> Route {
        .carried(by: FaultyNetworks(faults, time: time), as: "network(faults)")
    }
}
