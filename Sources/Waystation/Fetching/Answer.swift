import HTTPTypes
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// An answer that is available.
struct Answer: Sendable {
    enum Body: Sendable {
        case data(Data)
        case source(any BodySource)

        init(_ body: FileBody) {
            self =
                switch body {
                case .empty: .data(Data())
                case .data(let data): .data(data)
                case .slice(let slice): .source(slice)
                }
        }

        init(_ body: StoredBody) {
            self =
                switch body {
                case .data(let data): .data(data)
                case .file(let file): .source(file)
                }
        }

        var length: Int {
            switch self {
            case .data(let data): data.count
            case .source(let source): source.length
            }
        }

        /// Reads the whole body, on the calling thread.
        func contents() throws -> Data {
            switch self {
            case .data(let data): data
            case .source(let source): try source.read(at: 0, count: source.length)
            }
        }
    }

    var head: ResponseHead
    var body: Body
    var source: LoadEvent.Source
    /// Whether the answer was made here, because no source has one.
    var isMadeHere = false
    /// Whether the answer is that of a source of the app's own, which may answer otherwise the next time.
    var isForeign = false
    /// The fetch that renews the response after the answer was delivered (stale-while-revalidate).
    var renews: FetchPlan?
}

/// A body on disk that is read piece by piece.
protocol BodySource: Sendable {
    /// The length of the body in bytes.
    var length: Int { get }
    /// Reads exactly `count` bytes from `offset`; throws if the file has become shorter.
    func read(at offset: Int, count: Int) throws -> Data
}

extension FileSlice: BodySource {}
extension StoredBodyFile: BodySource {}

extension Answer.Body {
    /// The bytes of the whole body that a selection answers with.
    func part(_ content: StoredSelection.Content) -> Answer.Body {
        switch (content, self) {
        case (.none, _): .data(Data())
        case (.whole, _): self
        // A copy, whose indices begin at 0 as those of a body from the network do.
        case (.bytes(let range), .data(let data)): .data(Data(data.dropFirst(range.lowerBound).prefix(range.count)))
        case (.bytes(let range), .source(let source)): .source(BodyPart(of: source, range))
        }
    }
}

/// A part of the bytes of a body.
private struct BodyPart: BodySource {
    let whole: any BodySource
    let range: Range<Int>

    init(of whole: any BodySource, _ range: Range<Int>) {
        self.whole = whole
        self.range = range
    }

    var length: Int { range.count }

    func read(at offset: Int, count: Int) throws -> Data { try whole.read(at: range.lowerBound + offset, count: count) }
}

/// A body of which some bytes are stored, each in one of several parts.
struct JoinedBody: BodySource {
    private let pieces: [(span: Range<Int>, body: Answer.Body)]
    let length: Int

    init(_ parts: StoredParts, of responses: [StoredResponse]) {
        pieces = parts.pieces.map { ($0.span, Answer.Body(responses[$0.index].body)) }
        length = parts.head.contentLength ?? 0
    }

    func read(at offset: Int, count: Int) throws -> Data {
        guard offset >= 0, count > 0, offset < length else { return Data() }
        let end = offset + min(count, length - offset)
        var data = Data()
        while offset + data.count < end {
            let position = offset + data.count
            // Of several pieces, the one that goes on longest.
            let piece = pieces.filter { $0.span.contains(position) }.max { $0.span.upperBound < $1.span.upperBound }
            guard let piece else {
                throw StoreError(.damaged, "byte \(position) of a response whose parts are stored is missing")
            }
            let bytes = position - piece.span.lowerBound..<min(end, piece.span.upperBound) - piece.span.lowerBound
            let read = try piece.body.part(.bytes(bytes)).contents()
            guard read.count == bytes.count else {
                throw StoreError(.damaged, "a stored part of a response has fewer bytes than it had")
            }
            if data.isEmpty { data = read } else { data.append(read) }
        }
        return data
    }
}

/// A hit that answers every request like the one that it was made for, until the stored response or its age changes.
///
/// The answer of a hit depends on the request, on the stored responses and on the time. While one response is stored
/// for a key, the next request with the same fields gets the same answer, until its `Age` must be updated or its
/// freshness ends. Making a response costs several times as much as all other work for a hit, and `Age` is an estimate
/// in whole seconds (RFC 9111 §5.1), so it may be a second behind: a page that is requested again and again is decided
/// about every two seconds.
///
/// It is kept beside the head of its stored response, in memory. It is a class, because it is looked up there as a value
/// of any type, for which a struct would be copied.
final class RepeatedHit: Sendable {
    private let rules: CachingRules
    private let strategy: CacheStrategy
    private let url: URL
    private let fields: [String: String]
    /// The period in which the hit is the answer.
    ///
    /// A clock that was set back ends it too.
    private let times: Range<Date>
    private let head: ResponseHead
    private let content: StoredSelection.Content

    private init(
        _ rules: CachingRules,
        _ strategy: CacheStrategy,
        _ url: URL,
        _ fields: [String: String],
        _ times: Range<Date>,
        _ head: ResponseHead,
        _ content: StoredSelection.Content
    ) {
        self.rules = rules
        self.strategy = strategy
        self.url = url
        self.fields = fields
        self.times = times
        self.head = head
        self.content = content
    }

    /// The same hit with another head, which a test recognises.
    func marked(_ head: ResponseHead) -> RepeatedHit {
        RepeatedHit(rules, strategy, url, fields, times, head, content)
    }

    /// The answer to `request`, if the last hit of its stored response was for a request like it.
    static func find(
        for request: URLRequest,
        by strategy: CacheStrategy,
        among responses: [StoredResponse],
        in cache: CacheAccess
    ) -> Answer? {
        guard responses.count == 1, let stored = responses.first, isPlainGet(request),
            let hit = stored.prepared.withLock({ $0 as? RepeatedHit }),
            hit.strategy == strategy, hit.times.contains(cache.now()), hit.url == request.url,
            hit.fields == request.allHTTPHeaderFields ?? [:], hit.rules == cache.rules
        else { return nil }
        return Answer(head: hit.head, body: Answer.Body(stored.body).part(hit.content), source: .cache)
    }

    /// Records a hit for the requests that follow.
    static func note(
        _ head: ResponseHead,
        _ selection: StoredSelection,
        for request: URLRequest,
        by strategy: CacheStrategy,
        among responses: [StoredResponse],
        in cache: CacheAccess
    ) {
        let (now, rules) = (cache.now(), cache.rules)
        guard responses.count == 1, selection.index == 0, let stored = responses.first, isPlainGet(request),
            // Cache directives in a request apply to that one request.
            request.value(forHTTPHeaderField: "Cache-Control") == nil,
            request.value(forHTTPHeaderField: "Pragma") == nil, let url = request.url,
            case let end = end(of: selection, strategy, now, rules), now < end
        else { return }
        let fields = request.allHTTPHeaderFields ?? [:]
        let hit = RepeatedHit(rules, strategy, url, fields, now..<end, head, selection.content)
        stored.prepared.withLock { $0 = hit }
    }

    /// Whether the answer depends only on the URL, the fields and the time.
    private static func isPlainGet(_ request: URLRequest) -> Bool {
        request.cachePolicy == .useProtocolCachePolicy && request.httpMethod == "GET" && request.httpBody == nil
            && request.httpBodyStream == nil
    }

    /// The time at which a new decision is needed.
    ///
    /// That is when the stated age is more than a second behind (RFC 9111 §5.1 counts it in whole seconds), when the
    /// response is no longer fresh, or when the strategy's limit has passed.
    private static func end(
        of selection: StoredSelection,
        _ strategy: CacheStrategy,
        _ now: Date,
        _ rules: CachingRules
    ) -> Date {
        let nextAge = selection.head.nextAge(after: now, rules: rules)
        let told = nextAge.addingTimeInterval(1)
        if let limit = strategy.limit {
            return min(told, selection.head.responseTime.addingTimeInterval(limit.inSeconds))
        }
        return strategy.obeysHTTP
            ? min(told, nextAge.addingTimeInterval(selection.freshness.timeToLive.inSeconds - 1)) : told
    }
}

extension ResponseHead {
    /// The head of the answer for a selection.
    ///
    /// - Parameters:
    ///   - selection: A selection among the stored responses.
    ///   - length: The length of the whole body, in bytes.
    ///   - url: The URL of the request.
    ///   - status: The status for the field `Cache-Status`.
    init(_ selection: StoredSelection, length: Int, to url: URL, _ status: CacheStatus) {
        let (code, stored) = selection.parts
        var fields = stored.dictionary
        switch selection.answer {
        case .whole, .head: fields.set("Content-Length", to: String(length))
        case .part, .notModified, .rangeNotSatisfiable: break
        }
        // The members that came with the response are not stored.
        fields.set(CacheStatus.field, to: status.fieldValue)
        self.init(url: url, statusCode: code, fields: fields)
    }
}
