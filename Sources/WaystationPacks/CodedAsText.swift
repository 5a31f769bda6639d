/// A value whose coded form is its text.
///
/// Conforming types are public, so each implements `Codable` itself, with the two functions below.
protocol CodedAsText: LosslessStringConvertible {
    /// The error message for a text that is not a valid value; it says what a valid text looks like.
    static func complaint(about text: String) -> String
}

extension CodedAsText {
    /// Reads the text form.
    init(textFrom decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.complaint(about: text))
        }
        self = value
    }

    /// Writes the text form.
    func encodeText(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
