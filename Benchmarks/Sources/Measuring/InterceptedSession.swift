public import Foundation
public import FoundationNetworking
public import Waystation
import WaystationNIO
public import WaystationPacks

/// A way to load: plain URLSession, or URLSession with Waystation installed.
///
/// Most interceptors of the tools are made here.
public struct InterceptedSession: Sendable {
    /// Whether Waystation is really installed in the ways that are not plain.
    public static let isInstalled = true

    private static let everywhere = "*://*:*/**"

    private let interceptor: Interceptor?
    private let installed: Installed

    private init(_ interceptor: Interceptor?) {
        self.interceptor = interceptor
        installed = Installed(
            configuration: interceptor.map(URLSessionConfiguration.default.intercepted(by:)) ?? .default
        )
    }

    /// `@unchecked Sendable`: the configuration is never changed.
    private struct Installed: @unchecked Sendable {
        let configuration: URLSessionConfiguration
    }

    /// URLSession as Foundation makes it.
    public static let plain = InterceptedSession(nil)

    /// Waystation is installed, with rules that match no load.
    public static func untouched(rules: Int = 1) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor { $0.rules = (0..<rules).map { .allow(ruledURL($0) + "**", via: .network) } }
        )
    }

    /// A rule matches every loopback load and forwards it.
    public static func network(by engine: Interceptor.Carrier = .chosen) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.rules = [.allow(everywhere, via: .network)]
                $0.transport = engine
            }
        )
    }

    /// Every loopback load goes through the transport of an engine, with nothing to store.
    ///
    /// Foundation's own loader handles the loads of a rule that only forwards. It cannot look out for a link in
    /// redirects, so such a link makes the loads use the transport.
    public static func relayed(by engine: Interceptor.Carrier = .chosen) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = engine
                $0.rules = [.allow(everywhere, via: .network)]
                $0.externalLinks = ExternalLinks(schemes: ["mailto"]) { _ in }
            }
        )
    }

    /// Every loopback load goes to the network under a rule that requires a login for URLs with `needAuth=true`.
    ///
    /// - Parameters:
    ///   - host: The login's domain.
    ///   - token: The token that the login's provider returns; without one, no login succeeds.
    /// - Returns: The way to load.
    /// - Throws: The error of making the interceptor.
    public static func login(on host: String, token: String?) throws -> InterceptedSession {
        let cookie = LoginCookie.named("token", domain: host, isHostOnly: true, isSecure: false)
        let login = LoginSession(cookie: cookie) {
            guard let token else { throw URLError(.userAuthenticationRequired) }
            return token
        }
        return InterceptedSession(
            try Interceptor {
                $0.transport = .chosen
                $0.rules = [.allow(everywhere, via: .network, requiresLogin: .marked)]
                $0.login = login
            }
        )
    }

    /// Every loopback load is answered from the archive for a day, and is stored when the archive does not have it.
    ///
    /// - Parameters:
    ///   - directory: The directory of the stored responses.
    ///   - keepsBodiesInMemory: Whether bodies may also be kept in memory.
    ///   - engine: The engine that carries requests.
    /// - Returns: The way to load.
    /// - Throws: The error of making the interceptor.
    public static func stored(
        in directory: URL,
        keepsBodiesInMemory: Bool = true,
        by engine: Interceptor.Carrier = .chosen
    ) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = engine
                $0.rules = [.allow(everywhere, via: .cache(.cacheFirst(for: .days(1))))]
                // This makes Waystation send the origin the same request as plain URLSession.
                $0.storesCodedBodies = true
                $0.cache = try ResponseCache(
                    directory: directory,
                    maximumSize: .gibibytes(16),
                    maximumEntrySize: .gibibytes(1),
                    memorySize: keepsBodiesInMemory ? .mebibytes(64) : .bytes(0)
                )
            }
        )
    }

    /// Every loopback load goes through a private HTTP cache, which follows the responses' caching fields.
    ///
    /// - Parameters:
    ///   - directory: The directory of the stored responses.
    ///   - keepsBodiesInMemory: Whether bodies may also be kept in memory.
    ///   - engine: The engine that carries requests.
    ///   - sharing: The tier through which the cache shares responses; nil, the default, for none.
    /// - Returns: The way to load.
    /// - Throws: The error of making the interceptor.
    public static func cached(
        in directory: URL,
        keepsBodiesInMemory: Bool = true,
        by engine: Interceptor.Carrier = .chosen,
        sharing: ResponseCache.Sharing? = nil
    ) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = engine
                $0.rules = [.allow(everywhere, via: .cache(.standard))]
                $0.cache = try ResponseCache(
                    directory: directory,
                    maximumSize: .gibibytes(16),
                    memorySize: keepsBodiesInMemory ? .mebibytes(64) : .bytes(0),
                    sharing: sharing
                )
            }
        )
    }

    /// Loads below a URL are answered from the files of a directory.
    public static func files(in directory: URL, at base: URL) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = .chosen
                $0.rules = [.allow(everywhere, via: .files(in: directory, at: base.absoluteString))]
            }
        )
    }

    /// Every load is answered from the packs of a library.
    public static func packs(_ library: PackLibrary) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = .chosen
                $0.rules = [.allow(everywhere, via: .pack(orElse: .nowhere))]
                $0.packs = library
            }
        )
    }

    /// Files answer loads below `files.base`, the archive those of `archive.pattern`, and the network those of
    /// `network`.
    public static func mixed(
        files: (directory: URL, base: String),
        archive: (directory: URL, pattern: String),
        network: String
    ) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = .chosen
                $0.rules = [
                    .allow(files.base + "**", via: .files(in: files.directory, at: files.base)),
                    .allow(archive.pattern, via: .cache(.cacheFirst(for: .days(1)))),
                    .allow(network, via: .network),
                ]
                $0.cache = try ResponseCache(directory: archive.directory)
            }
        )
    }

    /// Loads of every kind: files and packs have hosts of their own, and each strategy has one path below `origin`.
    ///
    /// - Parameters:
    ///   - files: A directory that answers below `http://files.test/`.
    ///   - packs: The library that answers below `http://packs.test/`.
    ///   - cache: The directory of the stored responses, at most 32 MiB.
    ///   - origin: The origin's address without a path, as in `http://127.0.0.1:8080`.
    /// - Returns: The way to load.
    /// - Throws: The error of making the interceptor.
    public static func everyKind(
        files: URL,
        packs: PackLibrary,
        cache: URL,
        origin: String
    ) throws -> InterceptedSession {
        InterceptedSession(
            try Interceptor {
                $0.transport = .chosen
                $0.rules = [
                    .allow("http://files.test/**", via: .files(in: files, at: "http://files.test/")),
                    .allow("http://packs.test/**", via: .pack(orElse: .nowhere)),
                    .allow("\(origin)/archive/**", via: .cache(.cacheFirst(for: .days(1)))),
                    .allow("\(origin)/standard/**", via: .cache(.standard)),
                    .allow("\(origin)/stale/**", via: .cache(.staleWhileRevalidate(upTo: .hours(1)))),
                    .allow("\(origin)/first/**", via: .cache(.networkFirst(timeout: .milliseconds(20)))),
                    .allow("\(origin)/network/**", via: .network),
                ]
                $0.packs = packs
                $0.cache = try ResponseCache(directory: cache, maximumSize: .mebibytes(32))
            }
        )
    }

    /// Whether a response came from a file or the archive, also if the network was asked and did not answer.
    public static func isHit(_ response: HTTPURLResponse) -> Bool {
        let status = cacheStatus(response)
        let standsIn = status.contains("Waystation; fwd=") && !status.contains("fwd-status")
        return standsIn || status.contains("Waystation; hit")
    }

    /// The value of `Cache-Status` (RFC 9211), which says what the cache did; empty when no cache was used.
    public static func cacheStatus(_ response: HTTPURLResponse) -> String {
        response.value(forHTTPHeaderField: "Cache-Status") ?? ""
    }

    /// The configuration for a session.
    public func configuration(_ configuration: URLSessionConfiguration = .default) -> URLSessionConfiguration {
        interceptor.map(configuration.intercepted(by:)) ?? configuration
    }

    /// The interceptor, for its other clients.
    ///
    /// - Returns: The interceptor.
    /// - Throws: ``NotInstalled`` if this is plain `URLSession`, which has no interceptor.
    public func required() throws -> Interceptor {
        guard let interceptor else { throw NotInstalled() }
        return interceptor
    }

    /// A direct client of the same interceptor.
    ///
    /// - Throws: ``NotInstalled`` if this is plain `URLSession`, which has no interceptor.
    public func client() throws -> DirectClient { try required().client() }

    /// The error of a way to load without Waystation.
    public struct NotInstalled: Error {}

    /// A URL that the rule with this number in ``untouched(rules:)`` matches, without a file name.
    ///
    /// Half of the rules have a host each; the others share one host and differ in their paths.
    public static func ruledURL(_ number: Int) -> String {
        number.isMultiple(of: 2) ? "http://host\(number).test/app/" : "http://shared.test/app\(number)/"
    }

    /// Makes a decision as `canInit` does, and returns whether a rule matched the request.
    public func takes(_ request: URLRequest) -> Bool {
        (installed.configuration.protocolClasses?.first as? URLProtocol.Type)?.canInit(with: request) ?? false
    }
}

extension Interceptor.Carrier {
    /// The engine that the environment variable `ENGINE` names: `nio`, or otherwise Foundation's own.
    public static let chosen: Interceptor.Carrier =
        ProcessInfo.processInfo.environment["ENGINE"] == "nio" ? .nio : .urlSession
}
