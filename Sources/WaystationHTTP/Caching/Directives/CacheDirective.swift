import HTTPTypes

/// One directive of a `Cache-Control` field as it was received (RFC 9111 §5.2).
public struct CacheDirective: Hashable, Sendable {
    /// The name in lower case; names are compared case-insensitively.
    public let name: String
    /// The argument, unquoted, or nil when the directive has none.
    public let argument: String?
    /// Whether the argument follows the grammar: a token or a quoted string, with no space around the equals sign.
    public let isWellFormed: Bool

    /// All directives of all lines of a field, in their order; members whose name is not a token are left out.
    static func all(in fields: HTTPFields, of field: HTTPField.Name = .cacheControl) -> [CacheDirective] {
        var directives: [CacheDirective] = []
        for line in fields where line.name == field {
            var rest = Array(line.value.utf8)[...]
            while let directive = take(from: &rest) {
                if let directive = directive.valid { directives.append(directive) }
            }
        }
        return directives
    }

    private init(name: String, argument: String?, isWellFormed: Bool) {
        self.name = name
        self.argument = argument
        self.isWellFormed = isWellFormed
    }

    private struct Member {
        var valid: CacheDirective?
    }

    /// Takes one list member from the front; nil at the end.
    private static func take(from rest: inout ArraySlice<UInt8>) -> Member? {
        rest = rest.drop { $0.isSpace || $0 == UInt8(ascii: ",") }
        guard !rest.isEmpty else { return nil }
        let rawName = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        rest = rest[rawName.endIndex...]
        let trimmed = rawName.trimmingSpace()
        let isToken = trimmed.isToken
        let name = String(decoding: trimmed.map(\.lowercased), as: UTF8.self)
        guard rest.popFirst() == UInt8(ascii: "=") else {
            return Member(valid: isToken ? CacheDirective(name: name, argument: nil, isWellFormed: true) : nil)
        }
        let argument = takeArgument(from: &rest)
        guard isToken else { return Member(valid: nil) }
        let isWellFormed = argument.isWellFormed && trimmed.count == rawName.count
        return Member(valid: CacheDirective(name: name, argument: argument.text, isWellFormed: isWellFormed))
    }

    /// Takes the argument after the equals sign, up to the comma that ends the member.
    private static func takeArgument(from rest: inout ArraySlice<UInt8>) -> (text: String, isWellFormed: Bool) {
        if let text = rest.takeQuotedString() {
            let trailing = rest.prefix { $0 != UInt8(ascii: ",") }
            rest = rest[trailing.endIndex...]
            return (String(decoding: text, as: UTF8.self), trailing.allSatisfy(\.isSpace))
        }
        // An argument with an unclosed quotation mark ends at the comma, so that it does not swallow a restriction
        // after it.
        let member = rest.prefix { $0 != UInt8(ascii: ",") }
        rest = rest[member.endIndex...]
        var token = member
        while token.last?.isSpace == true { token.removeLast() }
        return (String(decoding: token, as: UTF8.self), token.isToken)
    }
}

extension CacheDirective {
    /// The argument as delta-seconds (RFC 9111 §1.2.2), in token or quoted form; nil when it is not a valid number.
    ///
    /// Values above 2^31 count as 2^31.
    var seconds: Double? {
        guard isWellFormed, let argument else { return nil }
        return DeltaSeconds.parse(argument)
    }

    /// The argument as a list of field names; nil when it is missing or empty, or when a member is not a field name.
    var fieldNames: [HTTPField.Name]? {
        guard isWellFormed, let argument else { return nil }
        var names: [HTTPField.Name] = []
        for member in argument.listMembers {
            guard let name = HTTPField.Name(member) else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : names
    }
}

/// Delta-seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The value that stands for larger values and overflows.
    static let greatest: Double = 2_147_483_648

    /// Parses text of decimal digits only; nil for any other text.
    static func parse(_ text: String) -> Double? {
        guard !text.isEmpty else { return nil }
        var value: Double = 0
        for byte in text.utf8 {
            guard let digit = byte.decimalDigit else { return nil }
            value = min(value * 10 + Double(digit), greatest)
        }
        return value
    }
}

extension Duration {
    /// Makes a duration of whole seconds, limited to ±2^31 and rounded down; NaN counts as 2^31.
    init(wholeSeconds seconds: Double) {
        let bounded =
            seconds.isNaN ? DeltaSeconds.greatest : min(max(seconds, -DeltaSeconds.greatest), DeltaSeconds.greatest)
        self = .seconds(Int64(bounded.rounded(.down)))
    }
}
