public import Foundation

/// One record of a WARC file (ISO 28500).
public struct WARCRecord: Sendable {
    /// A named field of a record's header.
    public struct Field: Hashable, Sendable {
        /// The name; names compare without regard to case.
        public let name: String
        /// The value, without space around it.
        public let value: String
    }

    /// The byte at which the record begins, in the file as it is without gzip.
    public let offset: Int
    /// The version of the format: `1.0` or `1.1`.
    public let version: String
    /// The fields of the record's own header.
    public let fields: [Field]
    /// How many bytes the block has.
    public let blockLength: Int
    /// The block; nil where it is larger than ``WARCReader/Limits/maximumBlockSize``.
    public let block: Data?

    /// The value of a field, the first where there are several.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// All values of a field.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// What sort of record it is, such as `response`, `request` or `resource`; in small letters.
    public var type: String { self["WARC-Type"]?.lowercased() ?? "" }

    /// Its name within the world, without angle brackets.
    public var id: String? { self["WARC-Record-ID"].map(Self.unbracketed) }

    /// The URI that it is about; some programs put it between angle brackets, which are left out.
    public var targetURI: String? { self["WARC-Target-URI"].map(Self.unbracketed) }

    /// When it was captured.
    public var date: Date? { self["WARC-Date"].flatMap(Timestamp.date) }

    static func unbracketed(_ text: String) -> String {
        text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : text
    }
}
