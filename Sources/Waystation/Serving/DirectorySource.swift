import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import WaystationArchive
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The files of a directory under a base URL.
struct DirectorySource: AnswerSource {
    let name = "files"
    private let directory: OfflineDirectory
    private let origin: String
    private let basePath: String

    init(_ root: URL, at base: String, rule: Int) throws {
        guard let url = CanonicalURL(base)?.plain, url.query == nil else {
            throw WaystationError(
                .invalidBaseURL,
                "rule \(rule) serves files at \(base.quoted()), which is not an absolute URL without a query, such as https://app.example/shop/"
            )
        }
        origin = url.origin
        let path = String(url.path)
        basePath = path.hasSuffix("/") ? path : path + "/"
        do {
            directory = try OfflineDirectory(root)
        } catch {
            throw WaystationError(
                .unusableDirectory,
                "rule \(rule) serves files that cannot be opened: \(error)",
                cause: error
            )
        }
    }

    func answer(to request: SourceRequest) -> SourceAnswer {
        guard let path = relativePath(of: request.canonical.url) else { return .declined }
        var file = OfflineFile(directory: directory, path: String(path), source: .files)
        file.lacksSlash = path.isEmpty
        return SourceAnswer(request.verdict(on: file))
    }

    /// The path of a URL below the base, percent-encoded and from the slash on with which the base ends; nil when the
    /// URL is elsewhere.
    ///
    /// It is empty for the base itself, written without its slash. A URL with another slash after the base is elsewhere:
    /// a directory ignores a slash at the start of a path, so the file would have a second URL, which the rules for the
    /// first one do not match.
    private func relativePath(of url: CanonicalURL) -> Substring? {
        guard url.origin == origin else { return nil }
        let path = url.plain.path
        guard path.utf8.starts(with: basePath.utf8) else { return path + "/" == basePath ? "" : nil }
        let relative = path[path.utf8.index(path.startIndex, offsetBy: basePath.utf8.count - 1)...]
        return relative.utf8.starts(with: "//".utf8) ? nil : relative
    }
}

/// A file that may answer a request.
struct OfflineFile: Sendable {
    let directory: OfflineDirectory
    /// The percent-encoded path within the directory.
    let path: String
    /// The source that is reported for the answer.
    let source: LoadEvent.Source
    /// Called when a file that must be as it was installed is missing or damaged; the request then continues with the
    /// next source.
    var onDamage: (@Sendable (String) -> Void)?
    /// Whether the URL is that of the directory, or of a folder in it, without its slash.
    var lacksSlash = false
}

extension SourceRequest {
    /// Answers at once with a file that is in memory; otherwise reads the disk away from the loading queue.
    ///
    /// The URL of a folder without its slash is answered with a redirect to the URL with the slash: relative links of
    /// the folder's page are resolved against that URL. The load follows the redirect like any other; a browser does so
    /// itself.
    func verdict(on file: OfflineFile) -> Verdict {
        let isGet = canonical.method == "GET"
        let isCompressed = file.hasCompressedName
        if isGet, isUnconditional, !file.lacksSlash, !isCompressed,
            let resident = file.directory.resident(path: file.path)
        {
            return answer(resident, from: file.source)
        }
        guard let method = HTTPRequest.Method(canonical.method) else { return .declined }
        guard isGet || method == .head else { return .declined }
        var fields = HTTPFields(request.allHTTPHeaderFields ?? [:])
        if isCompressed { fields[.range] = nil }
        let fileRequest = FileRequest(
            method: method,
            path: file.path,
            query: canonical.url.query.map(String.init),
            headerFields: fields
        )
        return .lookUp(
            LookUp { completion in
                DispatchQueue.global().async {
                    completion(verdict(file.directory.answer(fileRequest), of: file))
                }
                return {}
            }
        )
    }

    private func verdict(_ outcome: FileOutcome, of file: OfflineFile) -> Verdict {
        switch outcome {
        case .answer where file.lacksSlash:
            let folder = canonical.url.path.split(separator: "/").last ?? ""
            return answer(.redirect(toFolder: folder, canonical.url.query), from: file.source)
        case .answer(let found):
            do throws(URLError) {
                return answer(try found.decoded(for: request.url), from: file.source)
            } catch {
                return .fail(error)
            }
        case .notFound:
            file.onDamage?("\(file.path) is missing")
            return .declined
        case .refused(let reason):
            guard let onDamage = file.onDamage else {
                return .fail(refusal(.notFound, "\(canonical.url.string.shownURL) is refused: \(reason)"))
            }
            onDamage("\(file.path) is refused: \(reason)")
            return .declined
        case .failed(let error):
            environment.events.emit(LoadEvent(kind: .degraded("\(error)"), url: request.url))
            if error.code == .damaged { file.onDamage?("\(error)") }
            return .declined
        }
    }

    private var isUnconditional: Bool {
        guard let fields = request.allHTTPHeaderFields, !fields.isEmpty else { return true }
        return fields.keys.allSatisfy { name in
            let name = name.lowercased()
            return name != "range" && !name.hasPrefix("if-")
        }
    }

    private func answer(_ file: FileAnswer, from source: LoadEvent.Source) -> Verdict {
        guard let head = head(of: file, from: source) else {
            return .fail(URLError(.badURL, failing: request.url, "the request has no URL"))
        }
        return .answer(Answer(head: head, body: Answer.Body(file.body), source: source))
    }

    /// The head for a file, made once as long as the file and the URL stay the same; nil if the request has no URL.
    ///
    /// Making the response of a head costs as much as all other work for a hit.
    private func head(of file: FileAnswer, from source: LoadEvent.Source) -> ResponseHead? {
        guard let url = request.url else { return nil }
        let asked = url.absoluteString
        if let made = file.prepared.withLock({ $0 as? PreparedHead }), made.asked == asked { return made.head }
        var fields = file.headerFields.dictionary
        fields[CacheStatus.field] = CacheStatus(.hit, detail: source.description).fieldValue
        let head = ResponseHead(url: url, statusCode: file.status.code, fields: fields)
        file.prepared.withLock { $0 = PreparedHead(asked: asked, head: head) }
        return head
    }
}

/// A class, because a struct would be copied where it is looked up as a value of any type.
private final class PreparedHead: Sendable {
    let asked: String
    let head: ResponseHead

    init(asked: String, head: ResponseHead) {
        self.asked = asked
        self.head = head
    }
}

/// An SVG in a gzip stream (`.svgz`) is a file whose bytes have a content coding. A load delivers it without the coding,
/// as it delivers bodies from the network (trap L15).
extension OfflineFile {
    /// Whether the file's name is that of a file in a gzip stream.
    var hasCompressedName: Bool {
        path.utf8.suffix(5).elementsEqual(".svgz".utf8) { byte, expected in byte | 0x20 == expected }
    }
}

extension FileAnswer {
    /// The largest number of decompressed bytes, and of compressed ones.
    private static let limit = 16 << 20

    /// The answer without the content coding of its body; the same answer if its body has none.
    ///
    /// It reads the file.
    ///
    /// - Parameter url: The URL of the request, for the error.
    /// - Returns: The answer.
    /// - Throws: `dataLengthExceedsMaximum` if the compressed or the decompressed body has more than 16 MiB;
    ///   `cannotDecodeContentData` if the body is damaged or cannot be read.
    func decoded(for url: URL?) throws(URLError) -> FileAnswer {
        guard headerFields[.contentEncoding] != nil else { return self }
        var fields = headerFields
        // Ranges would count compressed bytes, but the client gets decompressed ones.
        for name in [HTTPField.Name.contentEncoding, .contentLength, .acceptRanges] { fields[name] = nil }
        guard length > 0 else { return FileAnswer(status: status, headerFields: fields, body: .empty) }
        let body: Data
        do {
            guard length <= Self.limit else { throw Inflater.Refusal.tooLarge }
            body = try Inflater.decompress(try Answer.Body(self.body).contents(), .gzip, limit: Self.limit)
        } catch Inflater.Refusal.tooLarge {
            let message = "the compressed file has more than \(Self.limit) bytes: store it without compression, as .svg"
            throw URLError(.dataLengthExceedsMaximum, failing: url, message)
        } catch Inflater.Refusal.damaged {
            let message = "the file is not a whole gzip stream: compress it again, or store it as .svg"
            throw URLError(.cannotDecodeContentData, failing: url, message)
        } catch {
            let message = "the file cannot be read: \(error)"
            throw URLError(.cannotDecodeContentData, failing: url, message, underlying: error)
        }
        fields[.contentLength] = "\(body.count)"
        return FileAnswer(status: status, headerFields: fields, body: .data(body))
    }
}
