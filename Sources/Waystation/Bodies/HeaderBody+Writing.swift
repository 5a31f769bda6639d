public import Foundation

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
        let text = chosen == .base64 ? Array(body.base64EncodedData()) : Self.percentEncoded(body)
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

    /// Everything but the unreserved characters of RFC 3986 §2.3 is encoded.
    private static func percentEncoded(_ body: Data) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(body.count * 3)
        for byte in body {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            default:
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return text
    }
}
