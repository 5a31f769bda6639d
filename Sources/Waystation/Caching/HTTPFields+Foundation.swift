import Foundation
package import HTTPTypes
import WaystationCaching

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPFields {
    /// The fields of a Foundation dictionary.
    ///
    /// Names and values that are not valid HTTP are left out, so that a value cannot insert another header line. Fields
    /// that `isWanted` rejects are left out too.
    package init(_ dictionary: [String: String], where isWanted: (HTTPField.Name) -> Bool = { _ in true }) {
        self.init()
        reserveCapacity(dictionary.count)
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            // White space around a value is not part of it (RFC 9110 §5.5).
            let value = value.hasSpaceAround ? value.trimmingCharacters(in: .whitespaces) : value
            guard let name = KnownFieldNames.name(name), isWanted(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }

    /// One value for each name, as in Foundation's dictionaries: the values of repeated fields are joined by commas.
    package var dictionary: [String: String] {
        var result: [String: String] = [:]
        for field in self {
            let name = field.name.rawName
            if let earlier = result[name] {
                result[name] = "\(earlier), \(field.value)"
            } else {
                result[name] = field.value
            }
        }
        return result
    }
}

extension String {
    /// Checked first, because such space is rare and Foundation's trimming takes longer than all other work on a field.
    fileprivate var hasSpaceAround: Bool {
        guard let first = utf8.first, let last = utf8.last else { return false }
        return [first, last].contains { $0 <= UInt8(ascii: " ") || $0 > 0x7f }
    }
}
