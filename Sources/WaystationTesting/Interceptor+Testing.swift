import Waystation

extension Interceptor {
    /// Makes an interceptor that carries every request that no other rule takes by a transport.
    static func carryingAll(
        by transport: any Transport,
        as name: String,
        after rules: [Rule],
        recorder: (any ExchangeRecorder)? = nil
    ) throws -> Interceptor {
        try Interceptor {
            $0.rules = rules + [.allow("*://*:*/**", via: .carried(by: transport, as: name))]
            $0.recorder = recorder
        }
    }
}
