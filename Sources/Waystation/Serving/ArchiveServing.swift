import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import WaystationRules
import WaystationStorage

extension Serving {
    /// The archive and the network, in the strategy's order.
    func archiveStep(_ strategy: CacheStrategy) -> ServingStep {
        guard let cache = engine.cache, strategy != .networkOnly || request.cachePolicy.prefersCache,
            let entry = ArchiveEntry(request, canonical: canonical.url.string)
        else {
            let staysHere = strategy == .cacheOnly || request.cachePolicy == .returnCacheDataDontLoad
            return staysHere ? .fail(notStored) : networkStep
        }
        if let variants = cache.store.resident(entry.key) {
            return step(strategy, entry, variants)
        }
        return .lookUp(
            LookUp { completion in
                cache.store.lookup(entry.key) { completion(step(strategy, entry, $0)) }
            }
        )
    }

    private func step(_ strategy: CacheStrategy, _ entry: ArchiveEntry, _ variants: [StoredResponse]) -> ServingStep {
        let stored = entry.selected(from: variants)
        let age = stored.map { max(0, engine.configuration.now().timeIntervalSince($0.responseTime)) }
        switch ArchiveDecision.make(strategy, policy: request.cachePolicy, age: age) {
        case .bypass: return networkStep
        case .unavailable: return .fail(notStored)
        case .serve(let renewing):
            guard let stored, let age, var answer = answer(stored, age: age, limit: strategy.limit) else {
                return .forward(Forwarding(archive: entry, reason: .uriMiss))
            }
            if renewing { answer.renews = entry }
            return .answer(answer)
        case .forward(let reason, let usesFallback, let timeout):
            let missed = variants.isEmpty || stored != nil || reason != .uriMiss
            return .forward(
                Forwarding(
                    archive: entry,
                    fallback: usesFallback ? stored.flatMap { answer($0, age: age ?? 0, limit: nil) } : nil,
                    timeout: timeout,
                    reason: missed ? reason : .varyMiss
                )
            )
        }
    }

    private var notStored: URLError {
        refusal(
            .notStored,
            "\(canonical.method) \(canonical.url) is not in the archive, and may be answered from nowhere else"
        )
    }

    private func answer(_ stored: StoredResponse, age: TimeInterval, limit: Duration?) -> Answer? {
        guard let response = response(for: stored, age: Int(age), limit: limit) else { return nil }
        let body: Answer.Body =
            switch stored.body {
            case .data(let data): .data(data)
            case .file(let file): .source(file)
            }
        return Answer(response: response, body: body, source: .archive)
    }

    /// The response for what is stored.
    ///
    /// `Age` changes with every second, so it is made once a second at most.
    private func response(for stored: StoredResponse, age: Int, limit: Duration?) -> HTTPURLResponse? {
        let timeToLive = limit.map { Int($0.inSeconds) - age }
        let made = stored.prepared.withLock { $0 as? PreparedArchiveResponse }
        if let made, made.age == age, made.timeToLive == timeToLive, made.askedURL == request.url {
            return made.response
        }
        var fields = stored.headerFields
        let url = StoredURL.take(from: &fields) ?? request.url
        fields[.contentLength] = String(stored.bodyLength)
        fields[.age] = String(age)
        if let name = HTTPField.Name(CacheStatus.fieldName) {
            fields[name] = CacheStatus(.hit, timeToLive: timeToLive, detail: "archive").fieldValue
        }
        guard let url,
            let response = HTTPURLResponse(
                url: url,
                statusCode: stored.status,
                httpVersion: "HTTP/1.1",
                headerFields: fields.dictionary
            )
        else { return nil }
        stored.prepared.withLock {
            $0 = PreparedArchiveResponse(age: age, timeToLive: timeToLive, askedURL: request.url, response: response)
        }
        return response
    }
}

private struct PreparedArchiveResponse: Sendable {
    let age: Int
    let timeToLive: Int?
    let askedURL: URL?
    let response: HTTPURLResponse
}

extension URLRequest.CachePolicy {
    /// Whether the request asks for what is stored, however old.
    fileprivate var prefersCache: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }
}

extension CacheStrategy {
    /// How old a response may be and still be served.
    fileprivate var limit: Duration? {
        switch kind {
        case .cacheFirst(let limit), .staleWhileRevalidate(let limit): limit
        case .networkFirst, .cacheOnly, .networkOnly: nil
        }
    }
}
