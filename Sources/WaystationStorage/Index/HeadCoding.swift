package import Foundation
package import HTTPTypes
import WaystationCaching

/// Header fields as the bytes of a field section: `name: value` and CR LF for each, in order (RFC 9112 §5).
///
/// Values are kept as bytes, since a field may hold text that is not valid UTF-8.
package enum FieldSection {
    package static func encode(_ fields: HTTPFields) -> Data {
        // An array of bytes takes a string's bytes in one copy, and `Data` does not.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.count * 48)
        for field in fields {
            bytes += field.name.rawName.utf8
            bytes += separator
            field.withUnsafeBytesOfValue { bytes += $0 }
            bytes += lineEnd
        }
        return Data(bytes)
    }

    /// - Returns: `nil` when the bytes are not a valid field section.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> HTTPFields? {
        var fields = HTTPFields()
        for line in Lines(bytes) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = KnownFieldNames.name(String(decoding: line[..<colon], as: UTF8.self))
            else { return nil }
            fields.append(HTTPField(name: name, value: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }))
        }
        return fields
    }

    fileprivate static let separator = Array(": ".utf8)
    fileprivate static let lineEnd = Array("\r\n".utf8)
}

extension VaryKey {
    /// The key as a field section; a field that the request did not have is a line without a colon.
    ///
    /// Equal keys have equal bytes: the names are in lower case and sorted.
    var encoded: Data {
        var data = Data()
        for nominee in nominees {
            data.append(contentsOf: nominee.name.canonicalName.utf8)
            if let value = nominee.value {
                data.append(contentsOf: FieldSection.separator)
                data.append(contentsOf: value.utf8)
            }
            data.append(contentsOf: FieldSection.lineEnd)
        }
        return data
    }

    /// - Returns: `nil` when the bytes are not a valid key.
    init?(encoded bytes: UnsafeRawBufferPointer) {
        var nominees: [Nominee] = []
        for line in Lines(bytes) {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            guard let name = KnownFieldNames.name(String(decoding: line[..<colon], as: UTF8.self)) else { return nil }
            // Skips the colon and the one space that was written: a value may itself begin with a space.
            let value = colon == line.endIndex ? nil : String(decoding: line[colon...].dropFirst(2), as: UTF8.self)
            nominees.append(Nominee(name: name, value: value))
        }
        self.init(nominees)
    }
}

/// The lines of a field section without their line ends.
private struct Lines: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    mutating func next() -> Slice<UnsafeRawBufferPointer>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\r")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst(2) }
        return rest[..<end]
    }
}
