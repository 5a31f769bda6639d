public import Foundation
package import WaystationFileSystem

/// Downloads artifacts into a directory, going on where an earlier attempt ended.
///
/// What has arrived stays in the directory when an attempt ends early: the connection broke, the task was cancelled (which
/// is also how to pause), the process died. The next call for the same artifact asks for the rest by `Range` and `If-Range`
/// (RFC 9110 §14.2, §13.1.5), and begins anew when the file on the server is another one or the server knows no ranges.
/// Nothing counts as arrived before its size and digest are checked and its bytes are on the medium.
///
/// An artifact without a digest is continued only under a strong validator of the server's, and fetched anew by each call.
/// Of several calls for one artifact one downloads and the others wait for it; calls for different ones run side by side.
/// Reading, hashing, writing and waiting for the disk are done on threads of their own, not on Swift's.
/// The directory is this downloader's alone: downloads fail where it is a symbolic link, belongs to another user or may
/// be written to by others.
public actor ArtifactDownloader {
    /// Where artifacts arrive.
    public nonisolated let directory: URL
    /// The largest artifact whose size nobody announced, in bytes.
    public nonisolated let maximumSize: Int

    private let fetcher: any PackFetching
    private let files: any FileSystem
    private let now: @Sendable () -> Date
    private var running: Set<String> = []
    private var waiting: [String: [(id: UInt64, turn: CheckedContinuation<Bool, Never>)]] = [:]
    private var lastID: UInt64 = 0

    /// A downloader.
    ///
    /// - Parameters:
    ///   - directory: Where artifacts arrive; made with the first download.
    ///   - maximumSize: The largest artifact whose size nobody announced, in bytes; 2 GiB by default.
    ///   - fetcher: The network.
    ///   - now: The clock, for dates in `Retry-After`.
    public init(
        directory: URL,
        maximumSize: Int = 2 << 30,
        fetcher: any PackFetching = URLSessionFetcher.shared,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            directory: directory,
            maximumSize: maximumSize,
            fetcher: fetcher,
            files: LocalFileSystem(),
            now: now
        )
    }

    package init(
        directory: URL,
        maximumSize: Int = 2 << 30,
        fetcher: any PackFetching,
        files: any FileSystem,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.directory = directory
        self.maximumSize = max(0, maximumSize)
        self.fetcher = fetcher
        self.files = files.confined(to: ArtifactPaths.path(of: directory))
        self.now = now
    }

    /// Downloads an artifact, or the rest of it.
    ///
    /// One attempt: after ``PackError/Code/interrupted`` or ``PackError/Code/network`` call again, now or later.
    ///
    /// - Parameters:
    ///   - artifact: What to download.
    ///   - progress: Told at the start and after each part, one call at a time, on any thread; it should be quick.
    /// - Returns: The file, whole and checked.
    /// - Throws: ``PackError``: ``PackError/Code/interrupted`` with the part kept, ``PackError/Code/cancelled`` likewise,
    ///   ``PackError/Code/damaged`` and ``PackError/Code/tooLarge`` with the part thrown away, ``PackError/Code/network``,
    ///   ``PackError/Code/refused``, ``PackError/Code/badAnswer``, ``PackError/Code/noSpace``, ``PackError/Code/fileSystem``.
    public func download(
        _ artifact: Artifact,
        progress: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async throws -> DownloadedArtifact {
        try await download(artifact, admitting: { _ in }, progress: progress)
    }

    /// The same, where `admit` is told the size that the server announced when the artifact names none.
    ///
    /// What it throws ends the download before anything is written.
    func download(
        _ artifact: Artifact,
        admitting admit: @escaping @Sendable (Int) throws -> Void,
        progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> DownloadedArtifact {
        let paths = paths(of: artifact)
        try await takeTurn(paths.key, artifact)
        defer { endTurn(paths.key) }
        let download = ArtifactDownload(
            artifact: artifact,
            paths: paths,
            files: files,
            fetcher: fetcher,
            maximumSize: maximumSize,
            now: now,
            admit: admit,
            report: progress
        )
        return try await BlockingWork.run { try await download.run() }
    }

    /// How many bytes of an artifact are here already; 0 when there are none, or it cannot be told.
    public func arrivedSize(of artifact: Artifact) -> Int {
        let paths = paths(of: artifact)
        let status = (try? files.status(of: paths.done)) ?? (try? files.status(of: paths.part))
        return status?.size ?? 0
    }

    /// Removes what is here of an artifact, whole or in part, after a download of it that runs.
    ///
    /// - Throws: ``PackError`` when a file cannot be removed, or the task was cancelled while it waited.
    public func discard(_ artifact: Artifact) async throws {
        let paths = paths(of: artifact)
        try await takeTurn(paths.key, artifact)
        defer { endTurn(paths.key) }
        try remove([paths.part, paths.record, paths.newRecord, paths.done])
    }

    /// Removes everything but these artifacts and those that are being downloaded; files of other names stay.
    ///
    /// - Throws: ``PackError`` when the directory cannot be read or a file cannot be removed.
    public func discardAll(except artifacts: [Artifact]) throws {
        let kept = running.union(artifacts.map { paths(of: $0).key })
        let directory = ArtifactPaths.path(of: directory)
        do {
            let names = try files.contents(of: directory).filter { name in
                ArtifactPaths.key(of: name).map { !kept.contains($0) } ?? false
            }
            try remove(names.map { "\(directory)/\($0)" })
        } catch let error as FileError {
            throw PackError(.fileSystem, "\(directory) cannot be read: check its owner and mode", cause: error)
        }
    }

    private func remove(_ paths: [String]) throws {
        for path in paths {
            do {
                try files.removeFile(path)
            } catch {
                throw PackError(.fileSystem, "\(path) cannot be removed: check who owns the directory", cause: error)
            }
        }
    }

    private func paths(of artifact: Artifact) -> ArtifactPaths {
        ArtifactPaths(artifact, in: ArtifactPaths.path(of: directory))
    }
}

extension ArtifactDownloader {
    /// Waits until nobody else works on an artifact.
    private func takeTurn(_ key: String, _ artifact: Artifact) async throws {
        guard !running.insert(key).inserted else { return }
        lastID += 1
        let id = lastID
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { turn in
                if Task.isCancelled {
                    turn.resume(returning: false)
                } else {
                    waiting[key, default: []].append((id, turn))
                }
            }
        } onCancel: {
            // Runs after the lines above, which hold the actor until the turn is waiting.
            Task { await self.giveUp(id, key) }
        }
        guard isMine else { throw PackError.cancelled(artifact.url) }
    }

    /// Hands the artifact to the one who has waited longest.
    private func endTurn(_ key: String) {
        guard var queue = waiting.removeValue(forKey: key), !queue.isEmpty else {
            running.remove(key)
            return
        }
        let next = queue.removeFirst()
        if !queue.isEmpty { waiting[key] = queue }
        next.turn.resume(returning: true)
    }

    private func giveUp(_ id: UInt64, _ key: String) {
        guard let index = waiting[key]?.firstIndex(where: { $0.id == id }) else { return }
        waiting[key]?.remove(at: index).turn.resume(returning: false)
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
    }
}
