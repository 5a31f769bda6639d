#if NIO
extension EngineParts {
    /// The parts of a transport that an app makes.
    static let standard = EngineParts(
        makeDecoder: { ContentDecoding.make(for: $0, limits: $1) },
        codings: ContentDecoding.available,
        makeHTTP2Connection: { channel, owner, limits in
            var own = HTTP2Limits()
            own.headBytes = limits.headBytes
            own.fields = limits.fields
            own.interimResponses = limits.interimResponses
            return try HTTP2Connection.make(channel: channel, owner: owner, limits: own)
        },
        openTunnel: { channel, authority, proxy, _ in ConnectHandler.open(on: channel, to: authority, proxy) },
        makeRoutes: { environment in
            let settings = ProxySettings(environment: environment)
            return { host, _, isSecure in settings.route(toHost: host, isSecure: isSecure) }
        }
    )
}
#endif
