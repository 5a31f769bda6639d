import WaystationHTTP

/// The version of a pack: numbers separated by dots, compared number by number.
///
/// `1.10` is higher than `1.9`, and `1.0` equals `1`. A suffix after a hyphen marks a pre-release, which is lower than
/// the version without it and is compared as Semantic Versioning does (§ 11 of SemVer 2.0.0). At most 64 characters.
public struct PackVersion: Comparable, Hashable, Sendable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// The version as the text that it was made from.
    public let description: String

    /// The numbers without trailing zeros, so that `1.0` and `1` are equal.
    private let numbers: [UInt64]
    private let prerelease: [Identifier]

    private enum Identifier: Comparable, Hashable {
        // Numbers are lower than words (SemVer § 11.4.3), and the order of the cases defines that.
        case number(UInt64)
        case word(String)
    }

    /// Makes a version; nil when the text is not numbers separated by dots, with or without a `-suffix`.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count) else { return nil }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var numbers: [UInt64] = []
        for number in parts[0].split(separator: ".", omittingEmptySubsequences: false) {
            guard let value = Self.number(number) else { return nil }
            numbers.append(value)
        }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        var prerelease: [Identifier] = []
        if parts.count == 2 {
            for identifier in parts[1].split(separator: ".", omittingEmptySubsequences: false) {
                guard !identifier.isEmpty, identifier.utf8.allSatisfy(Self.isWordByte) else { return nil }
                prerelease.append(Self.number(identifier).map { .number($0) } ?? .word(String(identifier)))
            }
        }
        self.numbers = numbers
        self.prerelease = prerelease
        description = text
    }

    private static func number(_ text: Substring) -> UInt64? {
        // `UInt64` would also accept a sign.
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Reads a version.
    ///
    /// - Throws: `DecodingError` when the text is not a version.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes the original text.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }

    /// Whether both have the same precedence, even if their texts differ.
    public static func == (left: PackVersion, right: PackVersion) -> Bool {
        left.numbers == right.numbers && left.prerelease == right.prerelease
    }

    /// Hashes the values that equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(numbers)
        hasher.combine(prerelease)
    }

    /// Compares number by number; a pre-release comes before its release.
    public static func < (left: PackVersion, right: PackVersion) -> Bool {
        for index in 0..<max(left.numbers.count, right.numbers.count) {
            let (one, other) = (left.number(at: index), right.number(at: index))
            if one != other { return one < other }
        }
        switch (left.prerelease.isEmpty, right.prerelease.isEmpty) {
        case (true, _): return false
        case (false, true): return true
        case (false, false): return left.prerelease.lexicographicallyPrecedes(right.prerelease)
        }
    }

    private func number(at index: Int) -> UInt64 { index < numbers.count ? numbers[index] : 0 }
}

extension PackVersion: CodedAsText {
    static func complaint(about text: String) -> String {
        "\(text.quoted()) is not a version: use numbers separated by dots, such as 1.10.2"
    }
}

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

/// A value whose coded form is its text.
///
/// Conforming types are public, so each implements `Codable` itself, with the two functions below.
protocol CodedAsText: LosslessStringConvertible {
    /// The error message for a text that is not a valid value; it says what a valid text looks like.
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
