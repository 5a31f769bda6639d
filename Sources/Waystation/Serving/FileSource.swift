import Dispatch
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationFields
import WaystationFiles
import WaystationFoundation
import WaystationRules
import WaystationTransport

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

extension Serving {
    /// The verdict of the files of a directory.
    func files(_ mounted: MountedDirectory, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        guard let path = mounted.relativePath(of: canonical.url) else { return otherwise() }
        var file = OfflineFile(directory: mounted.directory, path: String(path), source: .files)
        file.lacksSlash = path.isEmpty
        return verdict(file, otherwise: otherwise)
    }

    /// Answers at once with a file that is in memory; otherwise reads the disk away from the loading queue.
    ///
    /// The URL of a folder without its slash is answered with a redirect to the URL with the slash: relative links of
    /// the folder's page are resolved against that URL. The load follows the redirect like any other; a browser does so
    /// itself.
    func verdict(_ file: OfflineFile, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        let isGet = canonical.method == "GET"
        let isCompressed = file.hasCompressedName
        if isGet, isUnconditional, !file.lacksSlash, !isCompressed,
            let resident = file.directory.resident(path: file.path)
        {
            return answer(resident, from: file.source)
        }
        guard let method = HTTPRequest.Method(canonical.method) else { return otherwise() }
        guard isGet || method == .head else { return otherwise() }
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
                    completion(verdict(file.directory.answer(fileRequest), of: file, otherwise: otherwise))
                }
            }
        )
    }

    private func verdict(_ outcome: FileOutcome, of file: OfflineFile, otherwise: () -> Verdict) -> Verdict {
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
            return otherwise()
        case .refused(let reason):
            guard let onDamage = file.onDamage else {
                return .fail(refusal(.notFound, "\(canonical.url.string.shownURL) is refused: \(reason)"))
            }
            onDamage("\(file.path) is refused: \(reason)")
            return otherwise()
        case .failed(let error):
            sources.events.emit(LoadEvent(kind: .degraded("\(error)"), url: request.url))
            if error.code == .damaged { file.onDamage?("\(error)") }
            return otherwise()
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
        guard let response = response(for: file, from: source) else {
            return .fail(
                URLError(.badURL, failing: request.url, "Foundation makes no response with the fields of the file")
            )
        }
        return .answer(Answer(response: response, body: Answer.Body(file.body), source: source))
    }

    /// The response for a file, made once as long as the file and the URL stay the same.
    ///
    /// Making a response costs as much as all other work for a hit.
    private func response(for file: FileAnswer, from source: LoadEvent.Source) -> HTTPURLResponse? {
        let made = file.prepared.withLock { $0 as? PreparedFileResponse }
        let asked = request.url?.absoluteString
        if let made, made.asked == asked { return made.response }
        var fields = file.headerFields.dictionary
        fields[CacheStatus.field] = CacheStatus(.hit, detail: source.description).fieldValue
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url,
                statusCode: file.status.code,
                httpVersion: "HTTP/1.1",
                headerFields: fields
            )
        else { return nil }
        file.prepared.withLock { $0 = PreparedFileResponse(asked: asked, response: response) }
        return response
    }
}

private struct PreparedFileResponse: Sendable {
    let asked: String?
    let response: HTTPURLResponse
}

extension Serving {
    /// The verdict of the installed packs.
    ///
    /// A file that differs from the installed one is not served: the damage is reported to the library, and the request
    /// continues with the next source.
    func pack(_ packs: any InstalledPacks, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        guard let found = packs.file(for: canonical.url) else { return otherwise() }
        return pack(found, otherwise: otherwise)
    }

    func pack(_ found: InstalledFile, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        var file = OfflineFile(directory: found.directory, path: found.path, source: .pack)
        file.onDamage = found.reportDamage
        file.lacksSlash = found.lacksSlash
        return verdict(file, otherwise: otherwise)
    }
}
