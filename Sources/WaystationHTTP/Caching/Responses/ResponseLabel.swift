package import HTTPTypes

/// A name that several stored responses have in common, by which they are purged together.
///
/// A response may have many of them. Names are compared character by character.
public enum ResponseLabel: Hashable, Sendable {
    /// A name that the app has given to the responses, whatever their origins are.
    case tag(String)
    /// A group that an origin has put its responses into by `Cache-Groups` (RFC 9875 §2).
    ///
    /// Equal names of different origins are different groups. The origin is that of a ``CanonicalURL``, such as
    /// `https://shop.example`.
    case group(String, origin: String)
}

extension ResponseLabel {
    /// The name of the tag or of the group.
    package var name: String {
        switch self {
        case .tag(let name), .group(let name, _): name
        }
    }

    /// The labels of a response.
    ///
    /// - Parameters:
    ///   - tags: The lines of its field for tags.
    ///   - groups: The lines of `Cache-Groups`.
    ///   - url: Its URL in canonical form.
    /// - Returns: The labels; a malformed field adds none.
    package static func labels(tags: [String], groups: [String], url: String) -> Set<ResponseLabel> {
        var labels = Set<ResponseLabel>()
        if !tags.isEmpty { labels.formUnion((StructuredStrings.parse(tags) ?? []).map(ResponseLabel.tag)) }
        guard !groups.isEmpty, let names = StructuredStrings.parse(groups), !names.isEmpty,
            let origin = CanonicalURL(url)?.origin
        else { return labels }
        return labels.union(names.map { .group($0, origin: origin) })
    }
}

/// The fields that name the labels of responses, in lower case.
package enum LabelFields {
    /// The groups of a response (RFC 9875 §2).
    package static let groups = "cache-groups"
    /// The groups that the response to an unsafe request invalidates (RFC 9875 §3).
    package static let invalidated = "cache-group-invalidation"
    /// The tags of a stored response: a private field, which is neither delivered nor taken over from a message.
    package static let tags = "waystation-tags"
}

extension HTTPFields {
    /// The values of the lines of a field, whose name is in lower case.
    func lines(of name: String) -> [String] { compactMap { $0.name.canonicalName == name ? $0.value : nil } }

    /// The fields without that for tags.
    package func withoutTags() -> HTTPFields { HTTPFields(filter { $0.name.canonicalName != LabelFields.tags }) }
}

extension StoredHead {
    /// The groups that the origin has put the response into (RFC 9875 §2), in order; none if the field is malformed.
    public var groups: [String] {
        StructuredStrings.parse(headerFields.lines(of: LabelFields.groups)) ?? []
    }

    /// The names that the app has given to the response, in order.
    public var tags: [String] {
        StructuredStrings.parse(headerFields.lines(of: LabelFields.tags)) ?? []
    }

    /// The same response with other tags, in place of those that it has.
    ///
    /// The tags are kept in a field that is stored, and that no client gets: so they survive a validation, and whatever
    /// protects the fields on disk also protects them. A tag with a character other than printable ASCII is left out.
    package func tagged(_ tags: [String]) -> StoredHead {
        guard !tags.isEmpty || facts.isTagged else { return self }
        var fields = headerFields.withoutTags()
        let written = StructuredStrings.serialize(tags)
        if !written.isEmpty, let name = KnownFieldNames.name(LabelFields.tags) {
            fields.append(HTTPField(name: name, value: written))
        }
        return with(fields)
    }
}
