import Foundation
import Waystation
import WaystationHTTP
import WaystationStorage

/// Reads values that servers write in several forms.
///
/// - text: a string or a number; missing and `null` values are nil, and so are empty texts.
/// - integer: a whole number, or a string of one.
/// - list: an array of strings, or one string with commas or line ends between them.
/// - flag: `true` or `false`, a number (0 is false), or a string: `true`, `1`, `yes`, `y`, `on`, `false`, `0`, `no`,
///   `n`, `off`, in upper or lower case.
extension KeyedDecodingContainer {
    /// Reads a text; nil when it is missing or empty.
    func text(_ key: Key) throws -> String? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        if let text = try? decode(String.self, forKey: key) {
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            return trimmed.isEmpty ? nil : trimmed
        }
        if let number = try? decode(Int64.self, forKey: key) { return String(number) }
        if let number = try? decode(Decimal.self, forKey: key) { return "\(number)" }
        throw mismatch(key, "a string or a number")
    }

    func integer(_ key: Key) throws -> Int? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        if let number = try? decode(Int.self, forKey: key) { return number }
        if let text = try? decode(String.self, forKey: key) {
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if trimmed.isEmpty { return nil }
            if let number = Int(trimmed) { return number }
        }
        throw mismatch(key, "a whole number, or a string of one")
    }

    func flag(_ key: Key) throws -> Bool? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        if let flag = try? decode(Bool.self, forKey: key) { return flag }
        if let number = try? decode(Double.self, forKey: key) { return number != 0 }
        if let text = try? decode(String.self, forKey: key) {
            switch text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
            case "true", "1", "yes", "y", "on": return true
            case "false", "0", "no", "n", "off": return false
            case "": return nil
            default: break
            }
        }
        throw mismatch(key, "true, false, 1 or 0")
    }

    func list(_ key: Key) throws -> [String]? {
        if let list = try? decode([String].self, forKey: key) { return list }
        return try text(key)?
            .split { $0 == "," || $0.isNewline }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// Reads the name of a module, which some servers write as a number.
    func module(_ key: Key) throws -> ModuleID {
        guard let text = try text(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no module name"))
        }
        guard let module = ModuleID(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\(text.quoted()) is not a module name: use 1 to 64 letters, digits, '.', '_' and '-'"
            )
        }
        return module
    }

    func version(_ key: Key) throws -> PackVersion? {
        guard let text = try text(key) else { return nil }
        guard let version = PackVersion(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\(text.quoted()) is not a version: use numbers separated by dots, such as 1.10.2"
            )
        }
        return version
    }

    func digest(_ key: Key) throws -> PackDigest? {
        guard let text = try text(key) else { return nil }
        guard let digest = PackDigest(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription:
                    "\(text.quoted()) is not a digest: use 32 hexadecimal digits of MD5, or sha256- followed by 64 digits"
            )
        }
        return digest
    }

    private func mismatch(_ key: Key, _ expected: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: "expected \(expected)")
    }
}

extension PackError {
    /// The error of a body that is not in the expected format.
    static func badAnswer(_ url: URL, _ error: any Error) -> PackError {
        PackError(
            .badAnswer,
            "the answer of \(url.shown) is not in the expected format: \(error.place); "
                + "check that the URL is that of an update server",
            cause: error
        )
    }

    /// The error of an address in an answer that cannot be fetched.
    static func badAddress(_ text: String, in name: String) -> PackError {
        PackError(.badAnswer, "\(name) \(text.quoted()) is not an http or https URL: correct it on the server")
    }
}

extension Error {
    /// The place of the error in the JSON, and what is wrong there.
    var place: String {
        let context: DecodingError.Context
        switch self as? DecodingError {
        case .dataCorrupted(let found)?, .typeMismatch(_, let found)?, .valueNotFound(_, let found)?: context = found
        case .keyNotFound(let key, let found)?:
            return "\(Self.path(found.codingPath + [key])) is missing"
        default: return "\(self)".shown(upTo: 400)
        }
        let path = Self.path(context.codingPath)
        let problem = context.debugDescription.shown(upTo: 400)
        return path.isEmpty ? problem : "\(path): \(problem)"
    }

    /// The keys from the root of the JSON to a value; they are of the server's choice where a dictionary is read.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue.shown() }.joined(separator: ".").shown(upTo: 400)
    }
}

extension URL {
    /// The http or https URL for a text in an answer from `base`; nil if the text is no such URL.
    static func fetchable(_ text: String, relativeTo base: URL) -> URL? {
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL, url.isHTTP else { return nil }
        return url
    }
}
