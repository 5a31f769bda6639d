import WaystationFields

/// The error for an invalid URL pattern: the pattern, the position, and what was expected there.
///
/// Its description shows the position:
/// ```
/// URL pattern not understood: expected `://` after the scheme, as in `https://host/path`
///   https:/shop.example/
///        ^
/// ```
public struct URLPatternError: Error, Hashable, Sendable {
    /// The pattern as it was written.
    public let pattern: String

    /// The position of the error, in UTF-8 bytes from the start of ``pattern``, at most their count.
    public let offset: Int

    /// The syntax that was expected there, as a phrase.
    public let expected: String

    /// Makes an error; `offset` counts UTF-8 bytes.
    public init(pattern: String, offset: Int, expected: String) {
        self.pattern = pattern
        self.offset = offset
        self.expected = expected
    }
}

extension URLPatternError: CustomStringConvertible {
    /// The longest part of a pattern that is shown, in Unicode scalars.
    static let limit = 2_000

    /// The expected syntax, the pattern on a line of its own, and a caret below it at the position.
    ///
    /// Control characters in the pattern are escaped, so that it cannot overwrite the message.
    public var description: String {
        let place = String(decoding: pattern.utf8.prefix(offset), as: UTF8.self)
        let indent = String(repeating: " ", count: place.shown(upTo: Self.limit).count)
        return """
            URL pattern not understood: expected \(expected)
              \(pattern.shown(upTo: Self.limit))
              \(indent)^
            """
    }
}
