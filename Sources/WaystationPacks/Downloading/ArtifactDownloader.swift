public import Foundation
import Waystation
package import WaystationStorage

/// Downloads artifacts into a directory, and resumes downloads that were interrupted.
///
/// Bytes that have arrived stay in the directory when an attempt ends early: the connection broke, the task was
/// cancelled (which is also how to pause), or the process died. The next call for the same artifact requests the rest
/// by `Range` and `If-Range` (RFC 9110 §14.2, §13.1.5). It starts again from the first byte when the file on the server
/// has changed or the server does not support ranges. A download is complete only when its size and digest are checked
/// and its bytes are synchronised to the disk.
///
/// An artifact without a digest is resumed only with a strong validator from the server, and fetched again by each
/// call. When several calls ask for the same artifact, one downloads and the others wait for it; calls for different
/// artifacts run in parallel. Reading, hashing, writing and waiting for the disk are done on separate threads, not on
/// Swift's. The directory must belong to this downloader alone: downloads fail when it is a symbolic link, belongs to
/// another user or may be written to by others.
public actor ArtifactDownloader {
    /// The directory that artifacts are downloaded to.
    public nonisolated let directory: URL
    /// The largest size accepted for an artifact whose size is not known beforehand, in bytes.
    public nonisolated let maximumSize: Int

    private let fetcher: any PackFetching
    private let files: any FileSystem
    private let now: @Sendable () -> Date
    private var running: Set<String> = []
    private var waiting: [String: [(id: UInt64, turn: CheckedContinuation<Bool, Never>)]] = [:]
    private var lastID: UInt64 = 0

    /// Makes a downloader.
    ///
    /// - Parameters:
    ///   - directory: The directory that artifacts are downloaded to; created with the first download.
    ///   - maximumSize: The largest size accepted for an artifact whose size is not known beforehand, in bytes; 2 GiB
    ///     by default.
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
    /// Makes one attempt: after ``PackError/Code/interrupted`` or ``PackError/Code/network``, call again, now or later.
    ///
    /// - Parameters:
    ///   - artifact: The artifact to download.
    ///   - progress: Called at the start and after each part, one call at a time, on any thread; it should be quick.
    /// - Returns: The complete, checked file.
    /// - Throws: ``PackError``: ``PackError/Code/interrupted`` and ``PackError/Code/cancelled`` keep the part that has
    ///   arrived, ``PackError/Code/damaged`` and ``PackError/Code/tooLarge`` delete it; or ``PackError/Code/network``,
    ///   ``PackError/Code/refused``, ``PackError/Code/badAnswer``, ``PackError/Code/noSpace``,
    ///   ``PackError/Code/fileSystem``; ``PackError/Code/invalidArgument`` when ``directory`` is not a file URL.
    public func download(
        _ artifact: Artifact,
        progress: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async throws -> DownloadedArtifact {
        try await download(artifact, admitting: { _ in }, progress: progress)
    }

    /// Downloads an artifact, and calls `admit` with the size that the server announces when the artifact names none.
    ///
    /// An error that `admit` throws ends the download before anything is written.
    func download(
        _ artifact: Artifact,
        admitting admit: @escaping @Sendable (Int) throws -> Void,
        progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> DownloadedArtifact {
        if let problem = directory.fileURLProblem {
            throw PackError(.invalidArgument, "the directory for downloads \(problem)")
        }
        let paths = paths(of: artifact)
        try await takeTurn(paths.key, artifact)
        defer { endTurn(paths.key) }
        let download = ArtifactDownload(
            artifact: artifact,
            paths: paths.files,
            files: files,
            fetcher: fetcher,
            maximumSize: maximumSize,
            now: now,
            admit: admit,
            report: progress
        )
        return try await BlockingWork.run { try await download.run() }
    }

    /// How many bytes of an artifact have been downloaded; 0 when there are none, or the directory cannot be read.
    public func arrivedSize(of artifact: Artifact) -> Int {
        let paths = paths(of: artifact).files
        let status = (try? files.status(of: paths.done)) ?? (try? files.status(of: paths.part))
        return status?.size ?? 0
    }

    /// Deletes the downloaded bytes of an artifact, whole or partial; waits first for a running download of it.
    ///
    /// - Throws: ``PackError`` when a file cannot be removed, or the task was cancelled while it waited.
    public func discard(_ artifact: Artifact) async throws {
        let paths = paths(of: artifact)
        try await takeTurn(paths.key, artifact)
        defer { endTurn(paths.key) }
        let files = paths.files
        try remove([files.part, files.record, files.newRecord, files.done])
    }

    /// Deletes all artifacts except the given ones and those that are being downloaded; files with other names stay.
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
    /// Waits until no other call works on the artifact.
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
            // The actor runs this after the lines above, which hold it until the turn is in the queue.
            Task { await self.giveUp(id, key) }
        }
        guard isMine else { throw PackError.cancelled(artifact.url) }
    }

    /// Passes the artifact to the call that has waited longest.
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

/// An artifact that was downloaded completely.
public struct DownloadedArtifact: Sendable, Hashable {
    /// The file, in the downloader's directory; move it away, or call ``ArtifactDownloader/discard(_:)`` after use.
    public var file: URL
    /// The size in bytes.
    public var size: Int
    /// Its SHA-256, and its digest in the artifact's own algorithm if that is a different one.
    public var digests: [PackDigest]
    /// How many bytes this call fetched: fewer than the size when earlier attempts had fetched a part.
    public var fetched: Int
}
