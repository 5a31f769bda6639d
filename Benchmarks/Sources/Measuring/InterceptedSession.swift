public import Foundation
public import FoundationNetworking

/// A way to load: plain URLSession, or URLSession with Waystation installed.
///
/// The only code of the tools that knows Waystation's interface.
public struct InterceptedSession: Sendable {
    /// Whether Waystation is really behind the ways that are not plain.
    public static let isInstalled = false

    private init() {}

    /// URLSession as Foundation makes it.
    public static let plain = InterceptedSession()

    /// Waystation is installed, with rules of which none matches.
    public static func untouched(rules: Int = 1) throws -> InterceptedSession { plain }

    /// Every loopback load is taken and forwarded.
    public static func network() throws -> InterceptedSession { plain }

    /// Every loopback load is answered from the archive within a day, and stored when it is not there.
    ///
    /// - Parameters:
    ///   - directory: Where responses are kept.
    ///   - keepsBodiesInMemory: Whether bodies may stay in memory beside the disk.
    public static func stored(in directory: URL, keepsBodiesInMemory: Bool = true) throws -> InterceptedSession {
        plain
    }

    /// Loads below a URL are answered from the files of a directory.
    public static func files(in directory: URL, at base: URL) throws -> InterceptedSession { plain }

    /// Loads below `files.base` come from files, below `archive` from the archive, below `network` from the network.
    public static func mixed(
        files: (directory: URL, base: String),
        archive: (directory: URL, pattern: String),
        network: String
    ) throws -> InterceptedSession { plain }

    /// Whether a response came from a file or the archive.
    public static func isHit(_ response: HTTPURLResponse) -> Bool { false }

    /// The configuration to make a session of.
    public func configuration(_ configuration: URLSessionConfiguration = .default) -> URLSessionConfiguration {
        configuration
    }

    /// A URL that the rule of a number in ``untouched(rules:)`` takes, without the name of a file.
    ///
    /// Half of the rules have a host each, the others share one and differ in their path.
    public static func ruledURL(_ number: Int) -> String {
        number.isMultiple(of: 2) ? "http://host\(number).test/app/" : "http://shared.test/app\(number)/"
    }

    /// Makes a decision as `canInit` makes it, and says whether a rule took the request.
    public func takes(_ request: URLRequest) -> Bool { false }
}
