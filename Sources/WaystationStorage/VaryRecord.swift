public import HTTPTypes

/// The request fields that selected a response, as its `Vary` field nominated them (RFC 9110 §12.5.5).
///
/// A store keeps one variant per key and record. A record without fields belongs to a response that does not vary.
public struct VaryRecord: Hashable, Sendable {
    /// One nominated field and its value in the request.
    public struct Field: Hashable, Sendable {
        /// The nominated name; names compare without regard to case.
        public let name: HTTPField.Name

        /// The value sent, several lines joined with `, `; `nil` when the request did not have the field.
        public let value: String?

        /// Makes a nominated field.
        public init(name: HTTPField.Name, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The nominated fields, sorted by name; each name occurs once.
    public let fields: [Field]

    /// The record of a response that does not vary.
    public static let none = VaryRecord([])

    /// Makes a record of the given fields; if a name occurs twice, the first one counts.
    public init(_ fields: [Field]) {
        var seen = Set<HTTPField.Name>()
        self.fields =
            fields
            .filter { seen.insert($0.name).inserted }
            .sorted { $0.name.canonicalName < $1.name.canonicalName }
    }

    /// Makes a record of a request's values in the fields that the response nominates.
    public init(nominating names: some Sequence<HTTPField.Name>, in request: HTTPFields) {
        self.init(names.map { Field(name: $0, value: request[$0]) })
    }

    /// Whether a request would have selected the same response (RFC 9111 §4.1).
    public func matches(_ request: HTTPFields) -> Bool {
        fields.allSatisfy { request[$0.name] == $0.value }
    }
}
