import HTTPTypes

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
