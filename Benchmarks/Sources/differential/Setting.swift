/// The servers, names and environment that a scenario needs besides its two origins.
struct Setting: Sendable {
    /// An address that drops the packets of a connect.
    enum BlackHole: Sendable {
        case none
        /// A port of `127.0.0.1`.
        case ipv4
        /// The origin's port of `::1`.
        case ipv6BesideOrigin
    }

    /// The name of the certificate of a TLS server; nil for no such server.
    ///
    /// The child process trusts only the authority of these certificates.
    var certificate: String?
    /// The script of a TLS server that speaks HTTP/2; without one, the TLS server passes all bytes on to the origin.
    var http2: HTTP2Origin.Script?
    /// The script of a proxy; nil for none.
    var proxy: Scenario.Script?
    /// Variables of the process's environment; `PROXY` in a value stands for the proxy's address.
    var environment: [String: String] = [:]
    /// Whether the name `both.test` has the addresses `::1` and `127.0.0.1` in the child process.
    var hasNameWithTwoAddresses = false
    var blackHole = BlackHole.none

    /// The system's table of names, with a name that has two addresses.
    static let names = "127.0.0.1 localhost\n::1 both.test\n127.0.0.1 both.test\n"
}
