import Foundation
import HTTPTypes
import Waystation
import WaystationHTTP
import WaystationStorage

/// One attempt to download an artifact, or the missing rest of it.
struct ArtifactDownload: Sendable {
    let artifact: Artifact
    let paths: PartialFile.Paths
    let files: any FileSystem
    let fetcher: any PackFetching
    let maximumSize: Int
    let now: @Sendable () -> Date
    /// Called with the size that the server announced, when the artifact names none; it throws to refuse the download.
    let admit: @Sendable (Int) throws -> Void
    let report: @Sendable (DownloadProgress) -> Void

    /// Downloads the missing bytes.
    ///
    /// - Throws: ``PackError``.
    func run() async throws -> DownloadedArtifact {
        do {
            try Task.checkCancellation()
            guard artifact.size ?? 0 >= 0 else {
                throw PackError(
                    .invalidArgument,
                    "\(artifact.url.shown) is offered with a negative size: correct the offer"
                )
            }
            try files.createDirectory(paths.directory)
            if let done = try earlierResult() { return done }
            return try await download()
        } catch {
            throw named(error)
        }
    }

    /// The artifact, when an earlier call has downloaded it and it is still there.
    private func earlierResult() throws -> DownloadedArtifact? {
        guard try files.status(of: paths.done) != nil else { return nil }
        // Only a digest shows that the file is still the one that the server has.
        if let digest = artifact.digest, try files.status(of: paths.done)?.kind == .file {
            let source = try StoredFile(paths.done, files)
            let sha256 = try PackDigest(of: source)
            let own = digest.algorithm == .sha256 ? sha256 : try PackDigest(of: source, digest.algorithm)
            if own == digest {
                // The process may have ended between the last two steps of finishing.
                try PartialFile.remove(paths, files)
                report(DownloadProgress(completed: source.length, expected: source.length))
                return result(size: source.length, own == sha256 ? [sha256] : [sha256, own], fetched: 0)
            }
        }
        try files.removeFile(paths.done)
        return nil
    }

    private func download() async throws -> DownloadedArtifact {
        var partial = try DigestedFile.resuming(artifact, paths, files)
        while true {
            let offset = partial?.length ?? 0
            if let partial, offset == artifact.size ?? partial.record.total { return try finish(partial, fetched: 0) }
            let response = try await fetcher.fetch(request(for: partial))
            let meaning = DownloadResponse(
                status: response.status,
                fields: response.fields,
                offset: offset,
                total: partial?.record.total,
                validators: partial?.record.validators,
                expected: artifact.size
            )
            try admitAnnounced(meaning)
            switch meaning {
            case .resume(let total):
                guard var resumed = partial else { throw failure(.unasked, response) }
                partial = nil
                resumed.setTotal(total)
                return try await receive(response, into: &resumed, endsFile: total != nil)
            case .begin(let total, let validators):
                partial = nil
                var begun = try DigestedFile.beginning(artifact, total: total, validators, paths, files)
                return try await receive(response, into: &begun, endsFile: true)
            case .complete:
                guard let partial else { throw failure(.unasked, response) }
                return try finish(partial, fetched: 0)
            case .startAgain:
                // The next request has no range, so this happens only once.
                guard partial != nil else { throw failure(.unasked, response) }
                partial = nil
            case .fail(let reason):
                throw failure(reason, response)
            }
        }
    }

    private func admitAnnounced(_ meaning: DownloadResponse) throws {
        guard artifact.size == nil else { return }
        switch meaning {
        case .resume(let total?), .begin(let total?, _):
            try admit(total)
            guard total <= maximumSize else {
                try PartialFile.remove(paths, files)
                throw PackError.tooLarge(artifact.url, limit: maximumSize)
            }
        default: break
        }
    }

    private func request(for partial: DigestedFile?) -> FetchRequest {
        // The size is that of the whole file, since the server may send all of it.
        var request = FetchRequest(artifact.url, maximumBodySize: artifact.size ?? maximumSize)
        // The lengths and ranges of a content-coded body are not those of the file.
        request.fields[.acceptEncoding] = "identity"
        if let partial {
            request.fields[.range] = "bytes=\(partial.length)-"
            request.fields[.ifRange] = partial.record.validators.condition
        }
        return request
    }

    /// Writes the body to the partial file, and finishes the file if it is complete then.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - partial: The partial file.
    ///   - endsFile: Whether the file ends with the body. The end of a range need not be the end of a file whose size is
    ///     unknown: then only the digest shows it.
    /// - Returns: The complete file.
    /// - Throws: ``PackError``; with the code `interrupted`, the bytes are kept for the next attempt.
    private func receive(
        _ response: FetchedResponse,
        into partial: inout DigestedFile,
        endsFile: Bool
    ) async throws -> DownloadedArtifact {
        let total = artifact.size ?? partial.record.total
        let limit = artifact.size ?? maximumSize
        let start = partial.length
        report(DownloadProgress(completed: start, expected: total))
        do {
            for try await part in response.body {
                guard part.count <= limit - partial.length else {
                    throw PackError.tooLarge(artifact.url, limit: limit)
                }
                try partial.append(part)
                report(DownloadProgress(completed: partial.length, expected: total))
            }
            // Cancelling the task also ends the body, without an error.
            try Task.checkCancellation()
        } catch let error as PackError where error.code == .tooLarge {
            try PartialFile.remove(paths, files)
            throw error
        } catch let error as PackError where error.code == .network {
            partial.leave()
            throw interrupted(at: partial.length, of: total, error.cause)
        } catch {
            partial.leave()
            throw error
        }
        let isComplete = endsFile || artifact.digest.map(partial.digests.contains) ?? false
        guard isComplete, partial.length == total ?? partial.length else {
            partial.leave()
            throw interrupted(at: partial.length, of: total, nil)
        }
        return try finish(partial, fetched: partial.length - start)
    }

    private func finish(_ partial: DigestedFile, fetched: Int) throws -> DownloadedArtifact {
        let digests = partial.digests
        if let digest = artifact.digest, !digests.contains(digest) {
            try PartialFile.remove(paths, files)
            let actual = digests.first { $0.algorithm == digest.algorithm } ?? digests[0]
            throw PackError(
                .damaged,
                "\(artifact.url.shown) has the digest \(actual), but \(digest) was expected; the download was deleted: "
                    + "try again, and publish the file again if the error persists"
            )
        }
        try partial.finish()
        report(DownloadProgress(completed: partial.length, expected: partial.length))
        return result(size: partial.length, digests, fetched: fetched)
    }

    private func result(size: Int, _ digests: [PackDigest], fetched: Int) -> DownloadedArtifact {
        DownloadedArtifact(file: URL(filePath: paths.done), size: size, digests: digests, fetched: fetched)
    }
}

extension ArtifactDownload {
    private func failure(_ reason: DownloadResponse.Failure, _ response: FetchedResponse) -> PackError {
        let retryAfter = RetryAfter.delay(in: response.fields, now: now())
        switch reason {
        case .status: return .refusal(response.status, of: artifact.url, retryAfter: retryAfter)
        case .unasked:
            return PackError(
                .badAnswer,
                "\(artifact.url.shown) answered with status \(response.status), which does not fit the request: "
                    + "check the server"
            )
        case .wrongSize(let announced, let expected):
            return PackError(
                announced > expected ? .tooLarge : .badAnswer,
                "\(artifact.url.shown) has \(announced) bytes, but \(expected) were expected: publish the file and its "
                    + "announcement together"
            )
        }
    }

    private func interrupted(at length: Int, of total: Int?, _ cause: (any Error)?) -> PackError {
        PackError(
            .interrupted,
            "the download of \(artifact.url.shown) stopped after \(length) of "
                + "\(total.map(String.init) ?? "an unknown number of") bytes; they are kept: try again to get the rest",
            cause: cause
        )
    }

    private func named(_ error: any Error) -> PackError {
        switch error {
        case let error as PackError: error
        case is CancellationError: .cancelled(artifact.url)
        case let error as FileError where error.isFull:
            PackError(
                .noSpace,
                "the disk is full, so \(artifact.url.shown) cannot be stored in \(paths.directory): free some space, "
                    + "and try again",
                cause: error
            )
        case let error as FileError:
            PackError(
                .fileSystem,
                "\(artifact.url.shown) cannot be written to \(paths.directory): check the directory's permissions",
                cause: error
            )
        default: .network(artifact.url, error)
        }
    }
}

/// A file as a source of bytes, read through the injected file system.
struct StoredFile: ByteSource {
    let length: Int
    private let file: OpenFile
    private let files: any FileSystem

    init(_ path: String, _ files: any FileSystem) throws {
        self.files = files
        file = try files.openFile(path)
        length = try files.length(of: file)
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let bytes = try files.read(file, at: offset, count: buffer.count)
        bytes.copyBytes(to: buffer)
        return bytes.count
    }
}
