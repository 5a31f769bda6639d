// The grammar that the values of fields have in common: lists, parameters and quoted strings (RFC 9110 §5.6).
//
// Three fields have a grammar of their own, which is read elsewhere: `Set-Cookie` and `Cookie` (RFC 6265), lists of entity
// tags, in which a backslash is no escape (``EntityTagList``), and policies for content, which have no quoted strings.

extension Collection<UInt8> {
    /// The index of the first separator outside of quoted strings (§5.6.4); nil without one.
    ///
    /// A quoted string that is not closed reaches to the end.
    @inlinable package func firstIndexOutsideQuotes(of separator: UInt8) -> Index? {
        var index = startIndex
        var isQuoted = false
        while index != endIndex {
            switch self[index] {
            case separator where !isQuoted: return index
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted:
                formIndex(after: &index)
                guard index != endIndex else { return nil }
            default: break
            }
            formIndex(after: &index)
        }
        return nil
    }

    /// The parts between the separators outside of quoted strings: all of them, also empty ones, as they are.
    @inlinable package func splitOutsideQuotes(at separator: UInt8) -> [SubSequence] {
        var parts: [SubSequence] = []
        var rest = self[...]
        while let end = rest.firstIndexOutsideQuotes(of: separator) {
            parts.append(rest[..<end])
            rest = rest[end...].dropFirst()
        }
        parts.append(rest)
        return parts
    }
}

extension Collection<UInt8> where SubSequence == Self {
    /// Takes the quoted string at the front.
    ///
    /// Nothing is taken if the text does not begin with a quotation mark, or if the quoted string is not closed.
    ///
    /// - Returns: The text between the quotation marks, without escapes; nil if nothing is taken.
    @inlinable package mutating func takeQuotedString() -> [UInt8]? {
        var rest = self
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                self = rest
                return text
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The value of a parameter that is a token or a quoted string.
    ///
    /// A quoted string loses its quotation marks and escapes; every other text stays as it is. Space around the value does
    /// not count.
    package func unquoted() -> String {
        let value = trimmingSpace()
        var rest = value
        guard let text = rest.takeQuotedString(), rest.isEmpty else { return String(decoding: value, as: UTF8.self) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The members of a list of tokens, without the space around them; empty members are left out (§5.6.1.2).
    ///
    /// Tokens have no quotation marks, so a stray one must not hide the members after it.
    @inlinable package func tokenMembers() -> [Self] {
        split(separator: UInt8(ascii: ",")).compactMap { part in
            let member = part.trimmingSpace()
            return member.isEmpty ? nil : member
        }
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The members of a list of tokens, such as `Connection` and `Vary`, without the space around them; empty ones are
    /// left out.
    @inlinable package var listMembers: [String] { self[...].utf8.tokenMembers().map { String(Substring($0)) } }

    /// Whether a list of tokens has a member, whatever the case of ASCII letters is.
    @inlinable package func hasListMember(_ token: String) -> Bool {
        var rest = self[...].utf8
        while !rest.isEmpty {
            let member = rest.prefix { $0 != UInt8(ascii: ",") }
            if member.trimmingSpace().equalsIgnoringCase(token.utf8) { return true }
            rest = rest[member.endIndex...].dropFirst()
        }
        return false
    }

    /// The members of a list whose members may have quoted strings, such as `Cache-Control` and `WWW-Authenticate`,
    /// without the space around them; empty ones are left out.
    package var quotedListMembers: [Substring] {
        self[...].utf8.splitOutsideQuotes(at: UInt8(ascii: ",")).compactMap { part in
            let member = part.trimmingSpace()
            return member.isEmpty ? nil : Substring(member)
        }
    }
}

/// One parameter: a name, and a value unless it is a mark alone (§5.6.6).
package struct FieldParameter: Equatable, Sendable {
    /// The name in lower case.
    package let name: String
    /// The value without quotation marks; nil if the parameter has no equals sign.
    package let value: String?

    /// Reads one parameter.
    ///
    /// Space around the equals sign, which the grammar allows in challenges alone (§11.2), does not count.
    package init(_ text: Substring) {
        let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = text.utf8[..<(equals ?? text.endIndex)].trimmingSpace()
        self.name = String(decoding: name.map(\.lowercased), as: UTF8.self)
        value = equals.map { text.utf8[$0...].dropFirst().unquoted() }
    }
}

/// A value with parameters, such as a media type (§8.3.1).
package struct ParameterizedValue: Equatable, Sendable {
    /// The text before the parameters, in lower case: `text/html`.
    package let value: String
    /// The parameters, in their order.
    package let parameters: [FieldParameter]

    /// Reads a field's value.
    package init(_ field: String) {
        let parts = field.utf8[...].splitOutsideQuotes(at: UInt8(ascii: ";")).map { $0.trimmingSpace() }
        value = String(decoding: (parts.first ?? field.utf8[...]).map(\.lowercased), as: UTF8.self)
        parameters = parts.dropFirst().filter { !$0.isEmpty }.map { FieldParameter(Substring($0)) }
    }

    /// The value of the first parameter with a name in lower case.
    package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
}

/// The combined meaning of a message's `Content-Length` fields (RFC 9110 §8.6).
package enum ContentLength: Hashable, Sendable {
    /// The message has no such field.
    case absent
    /// One number, or the same number several times.
    case bytes(Int)
    /// A value that is not a decimal number, or contradictory numbers: the length is unknown (RFC 9112 §6.3).
    case invalid

    /// Reads a field value, in which several lines are joined by commas.
    package init(_ value: String?) {
        guard let value else {
            self = .absent
            return
        }
        self.init(lines: CollectionOfOne(value))
    }

    /// Reads the values of all lines.
    package init(lines: some Sequence<String>) {
        var length: Int?
        for line in lines {
            for member in line.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let digits = member.trimmingSpace()
                guard digits.isDecimal, let number = Int(Substring(digits)), length == nil || length == number else {
                    self = .invalid
                    return
                }
                length = number
            }
        }
        self = length.map(Self.bytes) ?? .absent
    }
}
