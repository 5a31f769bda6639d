import Foundation
public import HTTPTypes

/// The part of a cache key that `Vary` adds: the nominated request fields and their values (RFC 9111 §4.1).
public struct VaryKey: Hashable, Sendable {
    /// One nominated request field.
    public struct Nominee: Hashable, Sendable {
        /// The name of the field.
        public let name: HTTPField.Name
        /// The normalised value, or nil when the request did not have the field; a missing field matches only a missing
        /// field.
        public let value: String?

        /// Makes a nominated field with the value that a request has; nil when it does not have the field.
        public init(name: HTTPField.Name, value: String?) {
            self.name = name
            self.value = value.map { VaryKey.normalized($0, of: name) }
        }
    }

    /// Whether `Vary` has a member `*`, so that no request ever matches.
    public let matchesNothing: Bool
    /// The nominated fields, sorted by name; each name occurs once.
    public let nominees: [Nominee]

    /// The key of a response that does not vary.
    public static let none = VaryKey([])

    /// Whether the response had a `Vary` field that nominates any field.
    public var isPresent: Bool { matchesNothing || !nominees.isEmpty }

    /// Makes a key of nominated fields, such as those that a store has kept; if a name occurs twice, the first one counts.
    public init(_ nominees: [Nominee]) {
        var seen: Set<HTTPField.Name> = []
        matchesNothing = false
        self.nominees = nominees.filter { seen.insert($0.name).inserted }
            .sorted { $0.name.canonicalName < $1.name.canonicalName }
    }

    /// Makes the key of a response to a request.
    ///
    /// A member that is not a valid field name cannot be compared with a request, so it counts as `*`.
    ///
    /// - Parameters:
    ///   - response: The response's fields, with `Vary`.
    ///   - request: The request's fields.
    public init(_ response: HTTPFields, request: HTTPFields) {
        var names: Set<HTTPField.Name> = []
        for line in response where line.name == .vary {
            for member in line.value.listMembers {
                guard member != "*", let name = HTTPField.Name(member) else {
                    matchesNothing = true
                    nominees = []
                    return
                }
                names.insert(name)
            }
        }
        matchesNothing = false
        nominees = names.sorted { $0.canonicalName < $1.canonicalName }.map { name in
            Nominee(name: name, value: request.combined(name))
        }
    }

    /// Whether a request has the same values in the nominated fields.
    public func matches(_ request: HTTPFields) -> Bool {
        if matchesNothing { return false }
        for nominee in nominees {
            guard let presented = request.combined(nominee.name) else {
                if nominee.value == nil { continue }
                return false
            }
            guard let value = nominee.value else { return false }
            // Most values are already normalised.
            if presented != value, Self.normalized(presented, of: nominee.name) != value { return false }
        }
        return true
    }

    /// Normalises a value, so that values with the same meaning become equal.
    ///
    /// Several lines have been joined to one list before. In fields that are known to be lists, the space around
    /// members and empty members are removed; case-insensitive lists are converted to lower case; codings, whose order
    /// has no meaning, are sorted. Other fields only lose the space at both ends.
    static func normalized(_ value: String, of name: HTTPField.Name) -> String {
        switch name {
        case .acceptEncoding: listMembers(value.lowercased()).sorted().joined(separator: ",")
        case .acceptLanguage: listMembers(value.lowercased()).joined(separator: ",")
        case .accept where !value.contains("\""): listMembers(value).joined(separator: ",")
        default: value.trimmingSpace()
        }
    }

    /// The members of a list, without the space that may surround `;`.
    private static func listMembers(_ value: String) -> [String] {
        value.listMembers.map { member in
            guard member.utf8.contains(UInt8(ascii: ";")) else { return member }
            return member.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .map { String(Substring($0.trimmingSpace())) }.joined(separator: ";")
        }
    }
}
