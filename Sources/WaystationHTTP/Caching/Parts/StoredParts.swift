package import Foundation
package import HTTPTypes

/// The parts of one representation that are stored as responses of their own, taken together (RFC 9111 §3.4).
///
/// Parts are joined if they have the same strong validator, the same length of the whole, and the same nominated request
/// fields. The newest one shows that the representation is still the current one, so its fields and times are those of
/// all. A part without a strong validator stays alone.
package struct StoredParts: Sendable {
    /// Bytes of the representation, and the stored response that has them.
    package struct Piece: Hashable, Sendable {
        /// The index of the stored response.
        package let index: Int
        /// The bytes of the representation that the stored response has from its first byte on.
        package let span: Range<Int>
    }

    /// The head of the whole representation: complete if all bytes are stored.
    package let head: StoredHead
    /// The index of the newest stored response among them, whose fields these are.
    package let newest: Int
    /// The pieces, by their first bytes; they may overlap.
    package let pieces: [Piece]

    /// Joins the parts among stored responses.
    ///
    /// - Parameter stored: The heads of all stored responses of a key; ``StoredHead/contentLength`` is the number of bytes
    ///   that are stored.
    /// - Returns: One value for each representation of which parts are stored.
    package static func joined(among stored: [StoredHead]) -> [StoredParts] {
        guard stored.contains(where: { $0.status == 206 }) else { return [] }
        var groups: [Representation: [Piece]] = [:]
        for (index, head) in stored.enumerated() {
            guard let span = head.partSpan, let representation = Representation(head, index, span.total) else {
                continue
            }
            groups[representation, default: []].append(Piece(index: index, span: span.bytes))
        }
        return groups.map { StoredParts($0, $1, among: stored) }.sorted { $0.newest < $1.newest }
    }

    private init(_ representation: Representation, _ pieces: [Piece], among stored: [StoredHead]) {
        self.pieces = pieces.sorted {
            ($0.span.lowerBound, $1.span.upperBound) < ($1.span.lowerBound, $0.span.upperBound)
        }
        let newest =
            pieces.max { stored[$0.index].responseTime < stored[$1.index].responseTime }?.index ?? pieces[0].index
        self.newest = newest
        head = stored[newest].joined(
            with: pieces.map { stored[$0.index] },
            as: representation,
            Self.union(self.pieces.map(\.span))
        )
    }

    /// The union of spans that are sorted by their first bytes, as spans that do not touch.
    private static func union(_ spans: [Range<Int>]) -> [Range<Int>] {
        var union: [Range<Int>] = []
        for span in spans {
            if let last = union.last, span.lowerBound <= last.upperBound {
                union[union.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
            } else {
                union.append(span)
            }
        }
        return union
    }

    /// The bytes of a range that none of some spans has.
    ///
    /// - Parameters:
    ///   - range: The range.
    ///   - held: The spans, sorted, which do not touch.
    /// - Returns: The missing bytes, sorted.
    package static func missing(of range: Range<Int>, beside held: [Range<Int>]) -> [Range<Int>] {
        var missing: [Range<Int>] = []
        var position = range.lowerBound
        for span in held where span.upperBound > position {
            guard span.lowerBound < range.upperBound else { break }
            if span.lowerBound > position { missing.append(position..<span.lowerBound) }
            position = span.upperBound
        }
        if position < range.upperBound { missing.append(position..<range.upperBound) }
        return missing
    }

    /// What parts must have in common to be joined.
    fileprivate struct Representation: Hashable {
        let condition: String?
        /// The index of a part that stays alone.
        let single: Int?
        let total: Int
        let vary: VaryKey

        init?(_ head: StoredHead, _ index: Int, _ total: Int) {
            vary = head.vary.without(.range)
            self.total = total
            condition = Validators(head.headerFields).condition
            single = condition == nil ? index : nil
            // If the origin says so itself, other ranges are of another representation.
            if head.headerFields.lines(of: "vary").contains(where: { line in
                line.listMembers.contains { $0.equalsIgnoringCase("range") }
            }) {
                return nil
            }
        }
    }
}

extension StoredHead {
    /// The bytes that a stored part has, and the length of the whole; nil for other responses, for one with more bytes than
    /// it states, and for an unknown length.
    ///
    /// The first byte is the stated one, and the number of bytes is that of the bytes that have arrived.
    package var partSpan: (bytes: Range<Int>, total: Int)? {
        guard status == 206, let length = contentLength, length > 0,
            case .part(let first, let last, let total?)? = headerFields.firstValue(.contentRange)
                .flatMap(ContentRange.init),
            length <= last - first + 1
        else { return nil }
        return (first..<first + length, total)
    }

    /// The head of the whole representation of which this is the newest part.
    ///
    /// A part that was asked for with `If-Range` comes without the fields that the client has from earlier ones (RFC 9110
    /// §15.3.7), so these are added.
    fileprivate func joined(
        with parts: [StoredHead],
        as representation: StoredParts.Representation,
        _ held: [Range<Int>]
    ) -> StoredHead {
        var fields = headerFields
        fields[.contentRange] = nil
        var names = Set(fields.map(\.name)).union([.age, .contentRange, .contentLength])
        if let unconfirmed = KnownFieldNames.name(Self.unconfirmedField) { names.insert(unconfirmed) }
        for part in parts.sorted(by: { $0.responseTime > $1.responseTime }) {
            let added = part.headerFields.filter { !names.contains($0.name) }
            fields.append(contentsOf: added)
            names.formUnion(added.map(\.name))
        }
        let isComplete = held == [0..<representation.total]
        var whole = StoredHead(
            key: key,
            status: 200,
            headerFields: fields,
            vary: representation.vary,
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: representation.total,
            isComplete: isComplete,
            needsValidation: needsValidation
        )
        whole.staleFrom = staleFrom
        whole.held = isComplete ? nil : held
        return whole
    }

    /// The name of a private field of stored parts, in lower case; it is never delivered.
    package static let unconfirmedField = "waystation-unconfirmed"

    /// The same part, which answers nothing until its origin has sent other bytes of the same representation.
    ///
    /// It is for a part of which it is not known whether it was invalidated.
    package var unconfirmed: StoredHead {
        guard let name = KnownFieldNames.name(Self.unconfirmedField) else { return self }
        var fields = headerFields
        fields[name] = "?1"
        return with(fields)
    }

    /// The head of a part with the fields of the whole representation, which were updated.
    package func part(updatedBy whole: StoredHead) -> StoredHead {
        var fields = HTTPFields(whole.headerFields.filter { $0.name.canonicalName != Self.unconfirmedField })
        fields[.contentRange] = headerFields[.contentRange]
        let nominees = vary.nominees.filter { $0.name == .range }
        return StoredHead(
            key: key,
            status: status,
            headerFields: fields,
            vary: VaryKey(whole.vary.nominees + nominees),
            requestTime: whole.requestTime,
            responseTime: whole.responseTime,
            contentLength: contentLength
        )
    }

    /// The head of a part of this response's content: what has arrived of a response that broke off, or one of several
    /// parts in which a longer one is stored.
    ///
    /// - Parameters:
    ///   - offset: The place of the part in the content of the response.
    ///   - length: The number of bytes of the part.
    /// - Returns: The head; nil if the part could not be joined with others, or is the whole content.
    package func part(at offset: Int, length: Int) -> StoredHead? {
        let span: Range<Int>
        let total: Int
        switch status {
        case 200:
            guard let contentLength else { return nil }
            (span, total) = (0..<max(0, contentLength), contentLength)
        case 206:
            guard
                case .part(let start, let last, let whole?)? = headerFields.firstValue(.contentRange)
                    .flatMap(ContentRange.init)
            else { return nil }
            (span, total) = (start..<last + 1, whole)
        default: return nil
        }
        guard Validators(headerFields).condition != nil, offset >= 0, length > 0, length < total,
            offset < span.count, length <= span.count - offset
        else { return nil }
        let first = span.lowerBound + offset
        var fields = headerFields
        fields[.contentRange] = "bytes \(first)-\(first + length - 1)/\(total)"
        let range = VaryKey.Nominee(name: .range, value: "bytes=\(first)-\(first + length - 1)")
        return StoredHead(
            key: key,
            status: 206,
            headerFields: fields,
            vary: VaryKey(vary.without(.range).nominees + [range]),
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: length
        )
    }

    /// Whether a stored part of this response answers a request for a range of bytes.
    func holdsRange(of request: HTTPRequest) -> Bool {
        guard request.method == .get, let held, case .part(let range) = StoredAnswer(of: self, for: request) else {
            return false
        }
        return StoredParts.missing(of: range, beside: held).isEmpty
    }
}

/// The plan of an answer of which only some bytes are stored: those that are missing are asked for, one span after the
/// other, and joined with the stored ones (RFC 9111 §3.4, RFC 9110 §13.1.5).
package struct Completion: Sendable {
    /// The index of the joined parts among the stored responses.
    package let index: Int
    /// The head of the representation.
    package let head: StoredHead
    /// The form of the answer.
    package let answer: StoredAnswer
    /// The bytes of the representation that the answer has.
    package let wanted: Range<Int>
    /// The bytes among them that are not stored, sorted.
    package let missing: [Range<Int>]
    private let request: HTTPRequest
    private let validators: Validators

    /// Plans the answer to a request; nil if no stored part is of use for it.
    ///
    /// A part that is stale is of use too: the origin confirms it by sending bytes of the same representation.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: The stored responses, with the joined ones.
    package init?(for request: HTTPRequest, among stored: [StoredHead]) {
        guard request.method == .get else { return nil }
        let demands = RequestDemands(request.headerFields)
        guard !demands.hasOriginPrecondition, !demands.cacheControl.noStore, !demands.cacheControl.onlyIfCached,
            !request.headerFields.contains(.ifNoneMatch), !request.headerFields.contains(.ifModifiedSince)
        else { return nil }
        let joined = stored.indices.filter { stored[$0].held != nil && stored[$0].isSelected(by: request.headerFields) }
        guard let index = joined.max(by: { stored[$1].precedes(stored[$0]) }), let held = stored[index].held,
            let total = stored[index].contentLength
        else { return nil }
        head = stored[index]
        answer = StoredAnswer(of: head, for: request)
        switch answer {
        case .whole: wanted = 0..<total
        case .part(let range): wanted = range
        case .head, .notModified, .rangeNotSatisfiable: return nil
        }
        missing = StoredParts.missing(of: wanted, beside: held)
        guard !missing.isEmpty, missing != [wanted] else { return nil }
        self.index = index
        self.request = request
        validators = Validators(head.headerFields)
        // Bytes of an origin without validators cannot be joined. It is asked for the rest all the same if that is one
        // request, because such an origin mostly answers it with the whole response.
        guard validators.condition != nil || (missing.count == 1 && missing[0].upperBound == total) else { return nil }
    }

    /// The fields of the request for missing bytes.
    ///
    /// - Parameter span: The missing bytes.
    /// - Returns: `Range`, and `If-Range` if the stored parts have a strong validator: without one, nothing can be joined,
    ///   and the request only shows what the origin has.
    package func conditions(for span: Range<Int>) -> (range: String, ifRange: String?) {
        let isRest = span.upperBound == head.contentLength
        return ("bytes=\(span.lowerBound)-\(isRest ? "" : String(span.upperBound - 1))", validators.condition)
    }

    /// Whether a response has missing bytes of the same representation, from the first one on.
    package func accepts(_ response: HTTPResponse, for span: Range<Int>) -> Bool {
        let fields = response.headerFields
        guard response.status.code == 206, !fields.contains(.contentEncoding), let condition = validators.condition,
            Validators(fields).condition == condition,
            case .part(let first, let last, let total)? = fields.firstValue(.contentRange).flatMap(ContentRange.init),
            first == span.lowerBound, last < span.upperBound
        else { return false }
        return total == nil || total == head.contentLength
    }

    /// The index of the same representation among stored responses: that of its joined parts, or that of the whole one.
    package func index(among stored: [StoredHead]) -> Int? {
        stored.indices.last { index in
            stored[index].status == 200 && stored[index].contentLength == head.contentLength
                && validators.condition != nil && Validators(stored[index].headerFields) == validators
        }
    }

    /// The first bytes of the answer that are missing.
    ///
    /// - Parameters:
    ///   - position: The number of the first byte that is needed.
    ///   - stored: The stored representation, if there is one.
    /// - Returns: The missing bytes up to the next stored one; nil if all are stored.
    package func missing(from position: Int, beside stored: StoredHead?) -> Range<Int>? {
        let rest = position..<max(position, wanted.upperBound)
        guard let stored else { return rest.isEmpty ? nil : rest }
        return stored.isComplete ? nil : StoredParts.missing(of: rest, beside: stored.held ?? []).first
    }

    /// The selection of the joined parts, updated by a response with missing bytes.
    ///
    /// - Parameters:
    ///   - response: The response, which was accepted.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the response was received.
    ///   - rules: The caching rules.
    /// - Returns: The selection.
    package func selection(
        updatedBy response: HTTPResponse,
        requestTime: Date,
        responseTime: Date,
        rules: CachingRules
    ) -> StoredSelection {
        let updated = head.updated(
            from: response,
            request: request,
            requestTime: requestTime,
            responseTime: responseTime
        )
        return StoredSelection(
            index: index,
            updated,
            updated.freshness(now: responseTime, rules: rules),
            answer: answer,
            isValidated: true
        )
    }
}
