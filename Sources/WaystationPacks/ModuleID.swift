import WaystationFields

/// The name of a module: a part of an app that has its own packs.
///
/// A name has 1 to 64 of the characters `A`–`Z`, `a`–`z`, `0`–`9`, `.`, `_` and `-`, and does not begin with a dot,
/// since it is used in directory names and URLs.
public struct ModuleID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// The name of the module as text.
    public let description: String

    /// Makes a name; nil when the text has other characters or another length, or begins with a dot.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAllowed, (1...64).contains(text.utf8.count), !text.hasPrefix(".") else { return nil }
        description = text
    }

    /// Reads a name.
    ///
    /// - Throws: `DecodingError` when the text is not a valid name.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }

    /// Compares the bytes of the names.
    public static func < (left: ModuleID, right: ModuleID) -> Bool { left.description < right.description }
}

extension ModuleID: CodedAsText {
    static func complaint(about text: String) -> String {
        "\(text.quoted()) is not a module name: use 1 to 64 letters, digits, '.', '_' and '-', not beginning with a dot"
    }
}
