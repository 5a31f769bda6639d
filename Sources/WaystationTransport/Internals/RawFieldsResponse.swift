import Foundation
import WaystationFields

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response of which a value is not UTF-8: it shows the app the characters, and keeps the bytes.
///
/// `@unchecked Sendable`: as its superclass, it is never changed.
final class RawFieldsResponse: HTTPURLResponse, @unchecked Sendable {
    /// Nil for a response that was decoded: the bytes are not encoded.
    let rawFields: [String: String]?

    /// Makes a response; nil if none of the values has bytes to keep, or Foundation makes none of these values.
    init?(_ url: URL, _ statusCode: Int, _ fields: [String: String]) {
        guard fields.holdBytes else { return nil }
        rawFields = fields
        super.init(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields.shown)
    }

    required init?(coder: NSCoder) {
        rawFields = nil
        super.init(coder: coder)
    }
}

extension [String: String] {
    fileprivate var holdBytes: Bool { contains { FieldText.holdsBytes($0.value) } }

    /// The fields as a reader sees them.
    var shown: [String: String] { holdBytes ? mapValues(FieldText.shown) : self }
}
