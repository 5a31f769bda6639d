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

    /// The response for what is stored, made anew when it has aged by more than a second.
    ///
    /// Making one costs several times what everything else about a hit does, and `Age` is an estimate in whole seconds
    /// (RFC 9111 §5.1): so it may be a second behind.
    private func response(for stored: StoredResponse, age: Int, limit: Duration?) -> HTTPURLResponse? {
        let asked = request.url?.absoluteString
        let made = stored.prepared.withLock { $0 as? PreparedArchiveResponse }
        if let made, 0...1 ~= age - made.age, made.limit == limit, made.asked == asked { return made.response }
        let base = made ?? PreparedArchiveResponse(stored)
        guard let url = base.url ?? request.url else { return nil }
        var fields = base.fields
        let timeToLive = limit.map { Int($0.inSeconds) - age }
        fields["Age"] = String(age)
        fields[CacheStatus.fieldName] = CacheStatus(.hit, timeToLive: timeToLive, detail: "archive").fieldValue
        let response = HTTPURLResponse(
            url: url,
            statusCode: stored.status,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        guard let response else { return nil }
        let prepared = base.with(response, age: age, limit: limit, asked: asked)
        stored.prepared.withLock { $0 = prepared }
        return response
    }
}

/// What is made of a stored response to answer with it, and kept beside it in memory.
private final class PreparedArchiveResponse: Sendable {
    /// The fields that do not change with time.
    let fields: [String: String]
    /// Where the response came from, when that is not what was asked for.
    let url: URL?
    let response: HTTPURLResponse?
    let age: Int
    let limit: Duration?
    let asked: String?

    convenience init(_ stored: StoredResponse) {
        var fields = stored.headerFields
        let url = StoredURL.take(from: &fields)
        fields[.contentLength] = String(stored.bodyLength)
        fields[.age] = nil
        self.init(fields: fields.dictionary, url: url, response: nil, age: -1, limit: nil, asked: nil)
    }

    func with(_ response: HTTPURLResponse, age: Int, limit: Duration?, asked: String?) -> PreparedArchiveResponse {
        PreparedArchiveResponse(fields: fields, url: url, response: response, age: age, limit: limit, asked: asked)
    }

    private init(
        fields: [String: String],
        url: URL?,
        response: HTTPURLResponse?,
        age: Int,
        limit: Duration?,
        asked: String?
    ) {
        self.fields = fields
        self.url = url
        self.response = response
        self.age = age
        self.limit = limit
        self.asked = asked
    }
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
