#if NIO
/// The proxies that the environment names, by the rules of libcurl, which plain URLSession follows.
///
/// An empty variable counts as missing. `HTTP_PROXY` in upper case is ignored, because a CGI server sets it to what a
/// client sent.
struct ProxySettings: Equatable, Sendable {
    private let plain: Route
    private let secure: Route
    private let exceptions: ProxyExceptions

    /// Reads the environment of a process.
    init(environment: [String: String]) {
        func first(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        let all = first("all_proxy", "ALL_PROXY")
        plain = ProxyAddress.route((first("http_proxy") ?? all), Route.absoluteForm)
        secure = ProxyAddress.route((first("https_proxy", "HTTPS_PROXY") ?? all), Route.tunnel)
        exceptions = ProxyExceptions(first("no_proxy", "NO_PROXY") ?? "")
    }

    /// The way to an origin.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address, with or without brackets.
    ///   - isSecure: Whether the scheme is `https`.
    /// - Returns: The route. `no_proxy` knows no ports, so the port does not matter.
    func route(toHost host: String, isSecure: Bool) -> Route {
        let route = isSecure ? secure : plain
        guard route != .direct, !exceptions.contain(host) else { return .direct }
        return route
    }
}
#endif
