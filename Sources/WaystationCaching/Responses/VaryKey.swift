public import HTTPTypes
import WaystationFields

/// The part of a cache key that `Vary` adds: which request fields were nominated, and what they were (RFC 9111 §4.1).
public struct VaryKey: Hashable, Sendable, Codable {
    /// One nominated request field.
    public struct Nominee: Hashable, Sendable, Codable {
        /// The field.
        public let name: HTTPField.Name
        /// Its normalised value, or nil when the request did not have it; absent only matches absent.
        public let value: String?
    }

    /// Whether `Vary` has a member `*`, so that no request ever matches.
    public let matchesNothing: Bool
    /// The nominated fields, in the order of their names, each once.
    public let nominees: [Nominee]

    /// Whether the response had a `Vary` field that nominates something.
    public var isPresent: Bool { matchesNothing || !nominees.isEmpty }

    /// Makes the key of a response to a request.
    ///
    /// A member that is no field name nominates nothing that a request could be compared by, so it counts as `*`.
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
            Nominee(name: name, value: request.combined(name).map { Self.normalized($0, of: name) })
        }
    }

    /// Whether a request has the same values.
    public func matches(_ request: HTTPFields) -> Bool {
        if matchesNothing { return false }
        for nominee in nominees {
            guard let presented = request.combined(nominee.name) else {
                if nominee.value == nil { continue }
                return false
            }
            guard let value = nominee.value else { return false }
            // Most values are already normal.
            if presented != value, Self.normalized(presented, of: nominee.name) != value { return false }
        }
        return true
    }

    /// A value in a form that is the same for all values that mean the same.
    ///
    /// Several lines are one list already. Lists that are known as such lose the space around their members and the
    /// empty members; those that are case-insensitive become small letters; codings, of which order means nothing, are
    /// sorted. Nothing is assumed of other fields.
    static func normalized(_ value: String, of name: HTTPField.Name) -> String {
        switch name {
        case .acceptEncoding: listMembers(value.lowercased()).sorted().joined(separator: ",")
        case .acceptLanguage: listMembers(value.lowercased()).joined(separator: ",")
        case .accept where !value.contains("\""): listMembers(value).joined(separator: ",")
        default: String(Substring(value.utf8[...].trimmingSpace()))
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
