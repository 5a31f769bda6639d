import Foundation
import Hummingbird
import Logging
import Synchronization
import WaystationStorage

/// The release directory that is at a path now.
///
/// An `OfflineDirectory` keeps the directory that it opened, and publishing opens its path anew each time. When somebody
/// replaces the directory while the server runs, by a restored copy or by a link that points elsewhere, files and
/// changes must go to the same one. So every request compares what is at the path with what is open.
final class ReleaseRoot: Sendable {
    private struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    private struct State {
        /// Nil while nothing is at the path.
        var identity: Identity?
        var directory: OfflineDirectory
    }

    private let url: URL
    private let logger: Logger
    private let state: Mutex<State>

    /// Opens the directory, which must exist.
    init(_ url: URL, logger: Logger) throws {
        self.url = url
        self.logger = logger
        // The identity is read first: a directory that is replaced in between is opened again by the next request.
        let identity = Self.identity(at: url)
        state = Mutex(State(identity: identity, directory: try Self.open(url)))
    }

    /// The files of the directory that is at the path now.
    ///
    /// Waits for the disk.
    ///
    /// - Throws: ``Problem`` with 503 while nothing is at the path.
    func files() throws -> OfflineDirectory {
        guard let identity = Self.identity(at: url), let directory = try? directory(with: identity) else {
            let wasThere = state.withLock { state in
                defer { state.identity = nil }
                return state.identity != nil
            }
            if wasThere { logger.error("the release directory is gone; requests are refused until it is back") }
            throw Problem(
                .serviceUnavailable,
                "noReleases",
                "the release directory is not there: put it back, or try again later"
            )
        }
        return directory
    }

    private func directory(with identity: Identity) throws -> OfflineDirectory {
        if let known = state.withLock({ $0.identity == identity ? $0.directory : nil }) { return known }
        let directory = try Self.open(url)
        let isFirst = state.withLock { state in
            defer { state = State(identity: identity, directory: directory) }
            return state.identity != identity
        }
        if isFirst { logger.notice("the release directory was replaced; the server follows it") }
        return directory
    }

    private static func open(_ url: URL) throws -> OfflineDirectory {
        try OfflineDirectory(url, options: .init(indexDocuments: []))
    }

    /// The device and the number of the directory; links are followed.
    private static func identity(at url: URL) -> Identity? {
        var status = stat()
        guard stat(url.path(percentEncoded: false), &status) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
    }
}

/// Refuses requests while the release directory is gone: an empty index would be the answer, and publishing would begin an
/// empty directory in its place.
struct PresentReleases<Context: RequestContext>: RouterMiddleware {
    let root: ReleaseRoot

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        _ = try await BlockingWork.run { try root.files() }
        return try await next(request, context)
    }
}
