/// A value that is coded as its text.
///
/// Conforming types are public, so each says itself that it can be coded, and leaves the rest to these two.
protocol CodedAsText: LosslessStringConvertible {
    /// Says what is wrong with a text that is no such value, and which ones are.
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
