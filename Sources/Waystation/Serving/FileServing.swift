import Dispatch
import Foundation
import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationFiles
import WaystationRules

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
}

extension Serving {
    /// The verdict of the files of a directory.
    func files(_ mounted: MountedDirectory, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        guard let path = mounted.relativePath(of: canonical.url) else { return otherwise() }
        let file = OfflineFile(directory: mounted.directory, path: String(path), source: .files)
        return verdict(file, again: { $0.files(mounted, otherwise: otherwise) }, otherwise: otherwise)
    }

    /// Answers at once with a file that is in memory; otherwise reads the disk away from the loading queue.
    ///
    /// `again` serves the same request at another URL.
    func verdict(
        _ file: OfflineFile,
        again: @escaping @Sendable (Serving) -> Verdict,
        otherwise: @escaping @Sendable () -> Verdict
    ) -> Verdict {
        let isGet = canonical.method == "GET"
        if isGet, isUnconditional, let resident = file.directory.resident(path: file.path) {
            return answer(resident, from: file.source)
        }
        guard let method = HTTPRequest.Method(canonical.method) else { return otherwise() }
        guard isGet || method == .head else { return otherwise() }
        let fileRequest = FileRequest(
            method: method,
            path: file.path,
            query: canonical.url.query.map(String.init),
            headerFields: HTTPFields(request.allHTTPHeaderFields ?? [:])
        )
        return .lookUp(
            LookUp { completion in
                DispatchQueue.global().async {
                    switch file.directory.answer(fileRequest) {
                    case .answer(let answer):
                        completion(redirected(by: answer).map(again) ?? self.answer(answer, from: file.source))
                    case .notFound:
                        file.onDamage?("\(file.path) is missing")
                        completion(otherwise())
                    case .refused(let refusal):
                        guard let onDamage = file.onDamage else {
                            return completion(.fail(self.refusal(.notFound, "\(canonical.url) is refused: \(refusal)")))
                        }
                        onDamage("\(file.path) is refused: \(refusal)")
                        completion(otherwise())
                    case .failed(let error):
                        sources.events.emit(LoadEvent(kind: .degraded("\(error)"), url: request.url))
                        if error.code == .damaged { file.onDamage?("\(error)") }
                        completion(otherwise())
                    }
                }
            }
        )
    }

    /// The request for a folder's URL with a trailing slash, if the slash is missing; it is answered instead.
    ///
    /// On Linux a protocol cannot report a redirect to Foundation, so the redirect is followed here, and shows only in
    /// the response's URL.
    private func redirected(by file: FileAnswer) -> Serving? {
        guard file.status == .movedPermanently, let location = file.headerFields[.location],
            let url = request.url, let target = URL(string: location, relativeTo: url)?.absoluteURL
        else { return nil }
        var request = request
        request.url = target
        guard let canonical = CanonicalRequest(request), canonical.url != self.canonical.url else { return nil }
        return Serving(sources: sources, request: request, canonical: canonical)
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
            return .fail(URLError(.badURL, failing: request.url))
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
