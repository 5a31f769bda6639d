import Foundation
import HTTPTypes
import WaystationFileSystem

/// One attempt to bring one artifact here, or the rest of it.
struct ArtifactDownload: Sendable {
    let artifact: Artifact
    let paths: ArtifactPaths
    let files: any FileSystem
    let fetcher: any PackFetching
    let maximumSize: Int
    let now: @Sendable () -> Date
    /// Told the size that the server announced, when the artifact names none; it may refuse.
    let admit: @Sendable (Int) throws -> Void
    let report: @Sendable (DownloadProgress) -> Void

    /// Downloads what is missing.
    ///
    /// - Throws: ``PackError``.
    func run() async throws -> DownloadedArtifact {
        do {
            try Task.checkCancellation()
            guard artifact.size ?? 0 >= 0 else {
                throw PackError(.invalidArgument, "\(artifact.url.shown) cannot have a size below 0: correct the offer")
            }
            try files.createDirectory(paths.directory)
            if let done = try earlierResult() { return done }
            return try await download()
        } catch {
            throw named(error)
        }
    }

    /// The artifact, when an earlier call brought it and nobody took it away.
    private func earlierResult() throws -> DownloadedArtifact? {
        guard try files.status(of: paths.done) != nil else { return nil }
        // Only a digest tells that it is still what the server has.
        if let digest = artifact.digest, try files.status(of: paths.done)?.kind == .file {
            let source = try StoredFile(paths.done, files)
            let sha256 = try PackDigest(of: source)
            let own = digest.algorithm == .sha256 ? sha256 : try PackDigest(of: source, digest.algorithm)
            if own == digest {
                // The end may have come between the last two steps.
                try PartialFile.remove(paths, files)
                report(DownloadProgress(completed: source.length, expected: source.length))
                return result(size: source.length, own == sha256 ? [sha256] : [sha256, own], fetched: 0)
            }
        }
        try files.removeFile(paths.done)
        return nil
    }

    private func download() async throws -> DownloadedArtifact {
        var partial = try PartialFile.resuming(artifact, paths, files)
        while true {
            let offset = partial?.length ?? 0
            if let partial, offset == artifact.size ?? partial.record.total { return try finish(partial, fetched: 0) }
            let response = try await fetcher.fetch(request(for: partial))
            let meaning = DownloadResponse(
                status: response.status,
                fields: response.fields,
                offset: offset,
                record: partial?.record,
                expected: artifact.size
            )
            try admitAnnounced(meaning)
            switch meaning {
            case .resume(let total):
                guard var resumed = partial else { throw failure(.unasked, response) }
                partial = nil
                resumed.record.total = total
                return try await receive(response, into: &resumed)
            case .begin(let total, let validators):
                partial = nil
                let record = DownloadRecord(
                    url: artifact.url,
                    digest: artifact.digest,
                    total: total,
                    validators: validators
                )
                var begun = try PartialFile.beginning(record, paths, files)
                return try await receive(response, into: &begun)
            case .complete:
                guard let partial else { throw failure(.unasked, response) }
                return try finish(partial, fetched: 0)
            case .startAgain:
                // Asked for without a range next, so this comes once only.
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
        case .resume(let total?), .begin(let total?, _): try admit(total)
        default: break
        }
    }

    private func request(for partial: PartialFile?) -> FetchRequest {
        // The size is that of the whole file, since the answer may be all of it.
        var request = FetchRequest(artifact.url, maximumBodySize: artifact.size ?? maximumSize)
        // A coded body has other lengths and other ranges.
        request.fields[.acceptEncoding] = "identity"
        if let partial {
            request.fields[.range] = "bytes=\(partial.length)-"
            request.fields[.ifRange] = partial.record.validators.condition
        }
        return request
    }

    private func receive(
        _ response: FetchedResponse,
        into partial: inout PartialFile
    ) async throws -> DownloadedArtifact {
        let total = artifact.size ?? partial.record.total
        let limit = total ?? maximumSize
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
            // A body ends without an error when the task is cancelled too.
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
        guard partial.length >= total ?? 0 else {
            partial.leave()
            throw interrupted(at: partial.length, of: total, nil)
        }
        return try finish(partial, fetched: partial.length - start)
    }

    private func finish(_ partial: PartialFile, fetched: Int) throws -> DownloadedArtifact {
        let digests = partial.digests
        if let digest = artifact.digest, !digests.contains(digest) {
            try PartialFile.remove(paths, files)
            let actual = digests.first { $0.algorithm == digest.algorithm } ?? digests[0]
            throw PackError(
                .damaged,
                "\(artifact.url.shown) has the digest \(actual), and \(digest) is expected; what arrived was thrown away: "
                    + "try again, and publish the file anew if that goes on"
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
                "\(artifact.url.shown) answered with status \(response.status), which was not asked for: check the server"
            )
        case .wrongSize(let announced, let expected):
            return PackError(
                announced > expected ? .tooLarge : .badAnswer,
                "\(artifact.url.shown) has \(announced) bytes, and \(expected) are expected: publish the file and its "
                    + "announcement together"
            )
        }
    }

    private func interrupted(at length: Int, of total: Int?, _ cause: (any Error)?) -> PackError {
        PackError(
            .interrupted,
            "\(artifact.url.shown) broke off after \(length) of \(total.map(String.init) ?? "an unknown number of") bytes; "
                + "they are kept: try again to get the rest",
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
                "the disk is full while \(artifact.url.shown) is downloaded to \(paths.directory): make room, and try again",
                cause: error
            )
        case let error as FileError:
            PackError(
                .fileSystem,
                "\(artifact.url.shown) cannot be written to \(paths.directory): check that the directory may be written to",
                cause: error
            )
        default: .network(artifact.url, error)
        }
    }
}
