import HTTPTypes
import WaystationCaching
import WaystationFiles
import WaystationFoundation
import WaystationStorage

/// The stored responses of one key, newest first, and the file of a pack under them.
struct StoredVariants: Sendable {
    let responses: [StoredResponse]
    /// The file of a pack under the stored responses; it counts as the oldest.
    let packed: PackedVariant?
    /// The heads of all of them, by which the caching rules decide.
    let heads: [StoredHead]

    init(_ responses: [StoredResponse], over packed: PackedVariant? = nil) {
        self.responses = responses
        self.packed = packed
        heads = responses.map(\.head) + [packed?.head].compactMap(\.self)
    }

    /// The stored response at an index; nil for the index of the pack's file.
    func response(at index: Int) -> StoredResponse? {
        responses.indices.contains(index) ? responses[index] : nil
    }

    /// The content at an index, in memory or on disk.
    func body(at index: Int) -> Answer.Body? {
        if index == responses.count, let packed { return packed.body }
        return response(at: index).map { Answer.Body($0.body) }
    }

    static let none = StoredVariants([])

    /// The answer for a selection.
    ///
    /// - Parameters:
    ///   - selection: A selection among these responses.
    ///   - request: The app's request, whose URL the response gets.
    ///   - status: The status for the response's `Cache-Status` field.
    /// - Returns: The answer, or nil when Foundation cannot represent it.
    func answer(_ selection: StoredSelection, to request: URLRequest, _ status: CacheStatus) -> Answer? {
        guard let whole = body(at: selection.index) else { return nil }
        let source: LoadEvent.Source = selection.index == responses.count ? packed?.source ?? .cache : .cache
        let response =
            if let stored = response(at: selection.index) {
                PreparedResponse.response(for: stored, selection, to: request, status)
            } else {
                HTTPURLResponse.make(
                    selection,
                    length: whole.length,
                    to: request.url,
                    status.with(detail: source.description)
                )
            }
        guard let response else { return nil }
        return Answer(response: response, body: whole.part(selection.content), source: source)
    }
}

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

extension CacheStatus {
    fileprivate func with(detail: String) -> CacheStatus {
        var status = self
        status.detail = detail
        return status
    }
}

/// A response that is not in the store: a pack's file, which arrived at the time of its pack's release, or a response of
/// a shared tier.
struct PackedVariant: Sendable {
    let head: StoredHead
    let body: Answer.Body
    let source: LoadEvent.Source

    init(shared head: StoredHead, _ body: Data) {
        self.head = head
        self.body = .data(body)
        source = .shared
    }

    init(_ file: FileAnswer, url: String, released: Date) {
        body = Answer.Body(file.body)
        source = .pack
        var fields = file.headerFields
        // The tag is the pack's own, and the origin does not know it: it would answer a conditional request with the
        // full body.
        fields[.eTag] = nil
        head = StoredHead(
            key: RequestKey(method: "GET", url: url),
            status: file.status.code,
            headerFields: fields,
            requestTime: released,
            responseTime: released,
            contentLength: file.length
        )
    }
}
