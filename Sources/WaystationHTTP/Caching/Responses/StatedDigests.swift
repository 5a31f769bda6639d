package import HTTPTypes

/// The digests that a response states, by which a client can tell whether the bytes are those that the origin has sent
/// (RFC 9530).
///
/// `Content-Digest` is that of the content of the message, `Repr-Digest` that of the whole representation. They are the same
/// unless the content is a part of the representation (206), or the message has no content.
package struct StatedDigests: Hashable, Sendable {
    /// A hash algorithm (RFC 9530 §5); those that are not safe against forgery are ignored, as §6.6 advises.
    package enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case sha512 = "sha-512"
        case sha256 = "sha-256"
    }

    /// One digest of a field.
    package struct Digest: Hashable, Sendable {
        /// The name of the field, in lower case.
        package let field: String
        package let algorithm: Algorithm
        /// The value; one of the wrong length agrees with no bytes.
        package let value: [UInt8]

        package init(field: String, _ algorithm: Algorithm, _ value: [UInt8]) {
            (self.field, self.algorithm, self.value) = (field, algorithm, value)
        }
    }

    /// The digests: of each field the strongest one; empty if none is stated.
    package let digests: [Digest]

    /// Reads the digests of the content that follows a head.
    ///
    /// A field is ignored as a whole if it is malformed (RFC 9651 §4.2), and so are algorithms other than SHA-256 and
    /// SHA-512.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response, whose content no coding was removed from.
    ///   - status: Its status code.
    ///   - method: The method of the request; the response to a HEAD has no content.
    package init(ofContentAfter fields: HTTPFields, status: Int, to method: HTTPRequest.Method = .get) {
        guard method != .head, status >= 200, ![204, 304].contains(status) else {
            digests = []
            return
        }
        let isRepresentation = status != 206 || Self.hasAll(fields)
        digests = [Self.contentField, isRepresentation ? Self.representationField : nil].compactMap {
            $0.flatMap { Self.strongest(of: $0, in: fields) }
        }
    }

    /// Reads the digest of the whole representation, of which the fields may accompany a part only.
    package init(ofRepresentation fields: HTTPFields) {
        digests = [Self.strongest(of: Self.representationField, in: fields)].compactMap(\.self)
    }

    /// The field's name in lower case; the field describes the content of one message, so no other message may have it.
    static let contentField = "content-digest"
    /// The field's name in lower case.
    fileprivate static let representationField = "repr-digest"

    /// The field by which a request asks for a digest (RFC 9530 §4), as Foundation spells it.
    package static let wantField = "Want-Repr-Digest"
    /// Its value, which prefers the algorithm that most servers have.
    package static let wantValue = "sha-256=10, sha-512=9"

    /// Whether the range of a part is the whole representation.
    private static func hasAll(_ fields: HTTPFields) -> Bool {
        guard
            case .part(0, let last, let total?)? = fields.firstValue(.contentRange).flatMap(ContentRange.init)
        else { return false }
        return last + 1 == total
    }

    private static func strongest(of field: String, in fields: HTTPFields) -> Digest? {
        let lines = fields.lines(of: field)
        guard !lines.isEmpty, let values = StructuredDictionary.parse(lines) else { return nil }
        for algorithm in Algorithm.allCases {
            if case .bytes(let value)? = values[algorithm.rawValue] {
                return Digest(field: field, algorithm, value)
            }
        }
        return nil
    }
}

extension HTTPFields {
    /// The fields without `Content-Digest`, for a message with other content than the one that came with it.
    func withoutContentDigest() -> HTTPFields {
        HTTPFields(filter { $0.name.canonicalName != StatedDigests.contentField })
    }

    /// The fields of a whole response (200), with its `Content-Digest` as its `Repr-Digest` if it states only the former:
    /// the content of such a response is the representation (RFC 9530 §3).
    func statingDigest() -> HTTPFields {
        guard let name = KnownFieldNames.name(StatedDigests.representationField), !contains(name) else { return self }
        var fields = self
        fields[values: name] = lines(of: StatedDigests.contentField)
        return fields
    }
}
