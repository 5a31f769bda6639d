import Foundation
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

    /// The properties in which parts must be equal to be joined.
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
        guard key.method == "GET", let part = partBytes, let total = part.total else { return nil }
        return (part.bytes, total)
    }

    /// The bytes that a stored part has, and the length of the whole if it is known; nil as for ``partSpan``.
    package var partBytes: (bytes: Range<Int>, total: Int?)? {
        guard status == 206, let length = contentLength, length > 0,
            case .part(let first, let last, let total)? = headerFields.firstValue(.contentRange)
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
        var fields = headerFields.withoutContentDigest()
        fields[.contentRange] = nil
        var names = Set(fields.map(\.name)).union([.age, .contentRange, .contentLength])
        if let unconfirmed = KnownFieldNames.name(Self.unconfirmedField) { names.insert(unconfirmed) }
        for part in parts.sorted(by: { $0.responseTime > $1.responseTime }) {
            let added = part.headerFields.withoutContentDigest().filter { !names.contains($0.name) }
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

    /// Whether the response is such a part.
    package var isUnconfirmed: Bool { facts.isUnconfirmed }

    /// The head of a part with the fields of the whole representation, which were updated.
    package func part(updatedBy whole: StoredHead) -> StoredHead {
        var fields = whole.headerFields.confirmed()
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
        // Only a GET has ranges (RFC 9110 §14.2).
        guard key.method == "GET", Validators(headerFields).condition != nil, offset >= 0, length > 0, length < total,
            offset < span.count, length <= span.count - offset
        else { return nil }
        let first = span.lowerBound + offset
        var fields = (status == 200 ? headerFields.statingDigest() : headerFields).withoutContentDigest()
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

/// The validators that distinguish one representation of a file from another, strictly enough to join two parts of it.
package struct Validators: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    package var entityTag: String?
    /// `Last-Modified`, if it counts as a strong validator.
    package var lastModified: String?

    /// Reads the validators of a response that may be used with ranges (RFC 9110 §13.1.5).
    ///
    /// A weak tag says that two representations are equivalent, not that they have the same bytes, so it is left out. A
    /// date has a resolution of one second, and counts only when the response was made at least one second later
    /// (§8.8.2.2); otherwise the file may have changed again within that second.
    package init(_ fields: HTTPFields) {
        // A tag longer than 1024 bytes is left out, so that the record stays small.
        if let text = fields[.eTag], text.utf8.count <= 1024, let tag = EntityTag(text), !tag.isWeak {
            entityTag = tag.fieldValue
        }
        if let text = fields[.lastModified], let modified = Self.date(text),
            let date = fields[.date].flatMap(Self.date),
            date.secondsSinceEpoch - modified.secondsSinceEpoch >= 1
        {
            lastModified = text
        }
    }

    private static func date(_ text: String) -> HTTPDate? {
        // The present matters only for the two-digit years of an obsolete date format; any value will do to compare two
        // dates.
        HTTPDate(text, now: HTTPDate(nearestTo: 1_767_225_600))
    }

    /// The value for `If-Range`; nil when there is no validator.
    package var condition: String? { entityTag ?? lastModified }

    /// Whether these validators show that a part belongs to another representation than the earlier parts.
    package func contradicts(_ earlier: Validators) -> Bool {
        if let entityTag, let known = earlier.entityTag { return entityTag != known }
        if entityTag == nil, earlier.entityTag == nil, let lastModified, let known = earlier.lastModified {
            return lastModified != known
        }
        return false
    }
}

extension HTTPFields {
    /// The fields without that of a part which its origin must confirm.
    package func confirmed() -> HTTPFields {
        HTTPFields(filter { $0.name.canonicalName != StoredHead.unconfirmedField })
    }
}
