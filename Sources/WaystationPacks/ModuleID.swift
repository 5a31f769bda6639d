/// The name of a module: a part of an app that has packs of its own.
///
/// 1 to 64 of the characters `A`–`Z`, `a`–`z`, `0`–`9`, `.`, `_` and `-`, not beginning with a dot: it names directories
/// and stands in URLs.
public struct ModuleID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// The name itself.
    public let description: String

    /// A module of this name; nil when it has other characters or another length.
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
    /// - Throws: `DecodingError` when it is not a module's name.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }

    /// By bytes of the name.
    public static func < (left: ModuleID, right: ModuleID) -> Bool { left.description < right.description }
}

extension ModuleID: CodedAsText {
    static func complaint(about text: String) -> String {
        "\"\(text)\" names no module: use 1 to 64 letters, digits, '.', '_' and '-', not beginning with a dot"
    }
}
