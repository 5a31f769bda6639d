public import Foundation

/// One record of a WARC file (ISO 28500).
public struct WARCRecord: Sendable {
    /// A named field of a record's header.
    public struct Field: Hashable, Sendable {
        /// The name; names are compared without regard to case.
        public let name: String
        /// The value, without surrounding space.
        public let value: String
    }

    /// The position of the record's first byte, counted after decompression.
    public let offset: Int
    /// The version of the format: `1.0` or `1.1`.
    public let version: String
    /// The fields of the record's header.
    public let fields: [Field]
    /// The length of the block in bytes.
    public let blockLength: Int
    /// The block; nil when it is larger than ``WARCReader/Limits/maximumBlockSize``.
    public let block: Data?

    /// The value of a field; the first one when there are several.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// All values of a field.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The kind of record in lower case, such as `response`, `request` or `resource`.
    public var type: String { self["WARC-Type"]?.lowercased() ?? "" }

    /// The record's globally unique ID, without angle brackets.
    public var id: String? { self["WARC-Record-ID"].map(Self.unbracketed) }

    /// The URI that the record is about, without the angle brackets that some programs put around it.
    public var targetURI: String? { self["WARC-Target-URI"].map(Self.unbracketed) }

    /// When the record was captured.
    public var date: Date? { self["WARC-Date"].flatMap(Timestamp.date) }

    static func unbracketed(_ text: String) -> String {
        text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : text
    }
}
