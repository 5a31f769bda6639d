public import Foundation
import WaystationFields

extension HeaderBody {
    /// The fields that carry a body.
    ///
    /// - Parameters:
    ///   - body: The bytes.
    ///   - encoding: The encoding of the bytes; ``encoding`` when nil. An encoding other than ``encoding`` is named in
    ///     the field `<name>-encoding`.
    ///   - fieldLength: The maximum number of characters of one value, at least 3: a longer body is split over several
    ///     fields.
    /// - Returns: The fields by name.
    public func fields(
        for body: Data,
        encoding: Encoding? = nil,
        fieldLength: Int = 8_000
    ) -> [String: String] {
        let chosen = encoding ?? self.encoding
        let text = chosen == .base64 ? Array(body.base64EncodedData()) : body.percentEncoded
        var fields: [String: String] = chosen == self.encoding ? [:] : [encodingName: chosen.description]
        guard text.count > max(3, fieldLength) else {
            fields[name] = String(decoding: text, as: UTF8.self)
            return fields
        }
        var rest = text[...]
        var number = 1
        while !rest.isEmpty {
            let part = rest.prefix(max(3, fieldLength))
            fields["\(name)-\(number)"] = String(decoding: part, as: UTF8.self)
            rest = rest.dropFirst(part.count)
            number += 1
        }
        return fields
    }

    var encodingName: String { name + "-encoding" }
}
