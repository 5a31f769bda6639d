public import HTTPTypes
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes on disk, including those of earlier attempts.
    public var completed: Int
    /// Bytes in total; nil while the total is unknown.
    public var expected: Int?

    /// Makes a progress value.
    public init(completed: Int, expected: Int?) {
        self.completed = completed
        self.expected = expected
    }
}

extension DirectClient {
    /// Loads a response into a file, or the rest of it if an earlier call has loaded a part.
    ///
    /// The bytes are written to a file whose name has `.part` added, which replaces the file when it is complete. If the
    /// load breaks off or is cancelled, the part stays, with a record beside it (`.part.json`), and the next call for the
    /// same URL and the same file asks for the rest (`Range`, `If-Range`, RFC 9110 §13.1.5, §14). That needs a strong
    /// entity tag of the server's; without one the next call begins anew, as it does if the server has another version by
    /// then. The request asks for a body without content codings. Only one call at a time may load into a file. A new file
    /// can be read and written by its owner only.
    ///
    /// - Parameters:
    ///   - request: A GET, without a field `Range` of its own.
    ///   - file: The file, which is replaced if it exists; its directory must exist.
    ///   - options: The options of each request of the download.
    ///   - progress: Called after each part, on any thread; nil, the default, for no calls.
    /// - Returns: The head of the last response: 200, or 206 for the rest of the file.
    /// - Throws: `URLError`: that of the load; `badServerResponse` for a status other than success, whose body is not
    ///   written; `cannotWriteToFile` if the file cannot be written.
    @discardableResult
    public nonisolated(nonsending) func download(
        for request: HTTPRequest,
        to file: URL,
        options: Options = Options(),
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        guard request.method == .get, request.headerFields[.range] == nil else {
            let message = "a download is a GET without a range; load \(request.method.rawValue) by data(for:) instead"
            throw URLError(.unsupportedURL, failing: nil, message)
        }
        return try await Download(self, request, try URLRequest(request).url, file, options, progress).run()
    }

    /// Loads the response to a GET into a file, as ``download(for:to:options:progress:)-(HTTPRequest,_,_,_)`` does.
    @discardableResult
    public nonisolated(nonsending) func download(
        for url: URL,
        to file: URL,
        options: Options = Options(),
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> HTTPResponse {
        guard let canonical = CanonicalURL(url.absoluteString) else {
            throw URLError(.badURL, failing: url, "\(url.shown) is not an absolute URL")
        }
        let request = HTTPRequest(method: .get, canonical: canonical, headerFields: [:])
        return try await download(for: request, to: file, options: options, progress: progress)
    }
}

/// One call of a download.
private struct Download {
    private let client: DirectClient
    private let request: HTTPRequest
    private let url: URL
    private let options: DirectClient.Options
    private let progress: (@Sendable (DownloadProgress) -> Void)?
    private let paths: PartialFile.Paths
    private let files: any FileSystem = LocalFileSystem()

    init(
        _ client: DirectClient,
        _ request: HTTPRequest,
        _ url: URL?,
        _ file: URL,
        _ options: DirectClient.Options,
        _ progress: (@Sendable (DownloadProgress) -> Void)?
    ) throws {
        try file.checkIsFile(for: "write")
        let path = file.path(percentEncoded: false)
        self.client = client
        self.request = request
        self.url = url ?? file
        self.options = options
        self.progress = progress
        paths = PartialFile.Paths(
            directory: file.deletingLastPathComponent().path(percentEncoded: false),
            part: path + ".part",
            record: path + ".part.json",
            newRecord: path + ".part.new",
            done: path
        )
    }

    func run() async throws -> HTTPResponse {
        do {
            return try await load()
        } catch let error as FileError {
            let message = "the download of \(url.shown) cannot be written: \(error)"
            throw URLError(.cannotWriteToFile, failing: url, message, underlying: error)
        } catch is CancellationError {
            throw URLError(.cancelled, failing: url, "the task that loads \(url.shown) was cancelled")
        }
    }

    private func load() async throws -> HTTPResponse {
        var partial = try PartialFile.resuming(DownloadRecord(url: url), paths, files)
        while true {
            let response = try await client.response(for: asking(for: partial), options: options)
            let meaning = DownloadResponse(
                status: response.head.status.code,
                fields: response.head.headerFields,
                offset: partial?.length ?? 0,
                total: partial?.record.total,
                validators: partial?.record.validators,
                expected: nil
            )
            switch meaning {
            case .resume(let total?):
                guard var resumed = partial else { throw refusal(response) }
                resumed.record.total = total
                return try await receive(response, into: &resumed)
            case .begin(let total, let validators):
                // Two representations of one URL, such as those for two languages, may have the same date.
                var validators = validators
                validators.lastModified = nil
                let record = DownloadRecord(url: url, total: total, validators: validators)
                var begun = try PartialFile.beginning(record, paths, files)
                return try await receive(response, into: &begun)
            case .complete:
                guard let partial else { throw refusal(response) }
                try partial.finish()
                return response.head
            case .resume(nil), .startAgain:
                // Without the length of the file, its end cannot be recognised. The next request has no range, so this
                // happens only once.
                guard partial != nil else { throw refusal(response) }
                partial = nil
            case .fail: throw refusal(response)
            }
        }
    }

    private func asking(for partial: PartialFile?) -> HTTPRequest {
        var asked = request
        // The lengths and ranges of a content-coded body are not those of the file.
        asked.headerFields[.acceptEncoding] = "identity"
        if let partial {
            asked.headerFields[.range] = "bytes=\(partial.length)-"
            asked.headerFields[.ifRange] = partial.record.validators.condition
        }
        return asked
    }

    /// Writes the body, and finishes the file.
    private func receive(
        _ response: DirectClient.Response,
        into partial: inout PartialFile
    ) async throws -> HTTPResponse {
        let total = partial.record.total
        progress?(DownloadProgress(completed: partial.length, expected: total))
        do {
            for try await part in response.body {
                guard part.count <= (total ?? .max) - partial.length else { throw wrongLength(total) }
                try partial.append(part)
                progress?(DownloadProgress(completed: partial.length, expected: total))
            }
            // A cancel may come when all bytes have arrived and some of them were not read.
            try Task.checkCancellation()
            guard partial.length == total ?? partial.length else { throw wrongLength(total) }
            try partial.finish()
        } catch {
            // Bytes of a body with a wrong digest must not begin the file of the next attempt.
            if partial.record.validators.condition == nil || (error as? URLError)?.isDigestMismatch == true {
                try? PartialFile.remove(paths, files)
            } else {
                partial.leave()
            }
            throw error
        }
        return response.head
    }

    private func wrongLength(_ total: Int?) -> URLError {
        let message = "the download of \(url.shown) does not have the \(total ?? 0) bytes that its server has announced"
        return URLError(.networkConnectionLost, failing: url, message)
    }

    private func refusal(_ response: DirectClient.Response) -> URLError {
        let status = response.head.status.code
        return URLError(
            .badServerResponse,
            failing: url,
            "\(url.shown) answered with status \(status), so there is nothing to download; no file was changed"
        )
    }
}
