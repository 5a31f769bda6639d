import Foundation
import Synchronization
import WaystationPacks
import WaystationTesting

/// The origin of the fleet: it answers with the pages of the site, in versions, and names the digest of each body.
///
/// `GET` of a page takes ``delay``. `POST` makes a new version of it, and so invalidates what is stored.
final class FleetOrigin: Sendable {
    /// The names of the fields with which a body is checked.
    enum Field {
        static let digest = "X-Digest"
        static let page = "X-Page"
        static let version = "X-Version"
    }

    /// The time that an answer takes, in microseconds, as an origin some network away does.
    static let delay: UInt32 = 15_000

    private struct State {
        var versions: [String: Int] = [:]
        /// The requests and the bytes of answers, by the second of the run.
        var requests: [Int: Int] = [:]
        var bytes: [Int: Int] = [:]
        var changes = 0
    }

    /// The state that the script and the origin share.
    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    let base: String
    private let origin: ScriptedOrigin
    private let shared: Shared

    /// Starts the origin.
    ///
    /// - Parameters:
    ///   - site: The pages.
    ///   - staleness: How long a page may be used while it is renewed, in seconds.
    ///   - start: The begin of the run, from which seconds are counted.
    /// - Throws: The error of opening a port, or of reading a file.
    init(_ site: Site, staleness: Int, since start: Date) throws {
        let files = try Dictionary(
            site.pages.map { ($0.path, (data: try Data(contentsOf: $0.file), page: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
        let shared = Shared()
        origin = try ScriptedOrigin(keepsRequests: false) { request in
            guard let (data, page) = files[request.path] else { return .status(404) }
            let second = Int(Date().timeIntervalSince(start))
            guard request.method == "GET" else {
                let version = shared.state.withLock { state in
                    state.versions[request.path, default: 1] += 1
                    state.changes += 1
                    return state.versions[request.path, default: 1]
                }
                return .status(200, fields: [Field.version: "\(version)"])
            }
            usleep(Self.delay)
            let version = shared.state.withLock { state in
                state.requests[second, default: 0] += 1
                return state.versions[request.path, default: 1]
            }
            let tag = "\"\(version)\""
            // A machine shares a response that the origin has confirmed only if it is `public`.
            let control = "public, max-age=\(page.lifetime), stale-while-revalidate=\(staleness)"
            if request.value(of: "If-None-Match") == tag {
                return .status(304, fields: ["ETag": tag, "Cache-Control": control])
            }
            let body = data + Data("<!-- version \(version) -->".utf8)
            shared.state.withLock { $0.bytes[second, default: 0] += body.count }
            return .ok(
                body,
                fields: [
                    "Cache-Control": control, "ETag": tag, Field.digest: Self.digest(of: body), Field.page: page.path,
                    Field.version: "\(version)",
                ]
            )
        }
        self.shared = shared
        base = "http://127.0.0.1:\(origin.port)"
    }

    /// The number of requests for pages, by the second of the run.
    var requests: [Int: Int] { shared.state.withLock(\.requests) }
    /// The bytes of all bodies that were sent.
    var bytes: Int { shared.state.withLock { $0.bytes.values.reduce(0, +) } }
    /// The number of changed pages.
    var changes: Int { shared.state.withLock(\.changes) }

    func stop() { origin.stop() }

    static func digest(of body: Data) -> String { PackDigest(of: body).hex }
}
