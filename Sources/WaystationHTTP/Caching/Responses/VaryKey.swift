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

    /// The key of a stored response to a request.
    ///
    /// That of a part counts `Range` as nominated: another range selects another part.
    init(_ response: HTTPFields, request: HTTPFields, status: Int) {
        let vary = VaryKey(response, request: request)
        guard status == 206, !vary.matchesNothing else {
            self = vary
            return
        }
        self.init(vary.nominees + [Nominee(name: .range, value: request.combined(.range))])
    }

    /// The key without one of the nominated fields.
    func without(_ name: HTTPField.Name) -> VaryKey {
        matchesNothing ? self : VaryKey(nominees.filter { $0.name != name })
    }

    /// Whether a request has the same values in the nominated fields.
    public func matches(_ request: HTTPFields) -> Bool { matches(request, without: nil) }

    /// Whether a request selects a response in a language, although its `Accept-Language` is another.
    ///
    /// It does if it prefers that language to all others, and has the same values in the other nominated fields.
    func matches(_ request: HTTPFields, in language: String?) -> Bool {
        guard let language, nominees.contains(where: { $0.name == .acceptLanguage && $0.value != nil }),
            let preferred = request.combined(.acceptLanguage).flatMap(WeightedList.init)?.favourite,
            preferred.equalsIgnoringCase(language.trimmingSpace())
        else { return false }
        return matches(request, without: .acceptLanguage)
    }

    private func matches(_ request: HTTPFields, without ignored: HTTPField.Name?) -> Bool {
        if matchesNothing { return false }
        for nominee in nominees where nominee.name != ignored {
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
    /// Several lines have been joined to one list before. In lists whose members have weights, the order has a meaning
    /// only by these (RFC 9110 §12.4.2), so the members are sorted; codings and languages are converted to lower case. In
    /// other fields, the space around commas and at both ends is removed, unless there are quotes.
    static func normalized(_ value: String, of name: HTTPField.Name) -> String {
        switch name {
        case .acceptEncoding, .acceptLanguage: WeightedList(value.lowercased())?.normalized ?? value.trimmingSpace()
        case .accept where !value.contains("\""): WeightedList(value)?.normalized ?? value.trimmingSpace()
        default: value.contains("\"") ? value.trimmingSpace() : withoutSpace(aroundCommasOf: value)
        }
    }

    private static func withoutSpace(aroundCommasOf value: String) -> String {
        guard value.utf8.contains(UInt8(ascii: ",")) else { return value.trimmingSpace() }
        return value.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpace() }
            .joined(separator: ",")
    }
}

/// A list of what a client accepts, each with a weight (RFC 9110 §12.4.2, §12.5).
private struct WeightedList {
    private var members: [(text: String, name: Substring, weight: Double)] = []

    /// Reads a field value; nil if it is an empty list.
    init?(_ value: String) {
        for member in value.listMembers {
            let parts = member.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .map { Substring($0.trimmingSpace()) }
            let weight = parts.dropFirst().first { $0.startsIgnoringCase(with: "q=") }.flatMap {
                Double($0.dropFirst(2))
            }
            members.append((parts.joined(separator: ";"), parts.first ?? "", weight ?? 1))
        }
        guard !members.isEmpty else { return nil }
    }

    /// The members in an order that depends on nothing but themselves.
    var normalized: String { members.map(\.text).sorted().joined(separator: ",") }

    /// The member with the greatest weight; nil if several members have that weight, and for `*`.
    var favourite: Substring? {
        guard let best = members.max(by: { $0.weight < $1.weight }), best.weight > 0, best.name != "*",
            members.count(where: { $0.weight == best.weight }) == 1
        else { return nil }
        return best.name
    }
}
