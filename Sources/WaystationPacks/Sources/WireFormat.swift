import Foundation

/// Reads what servers write in more than one way.
///
/// - text: a string, or a number as JSON writes it; missing, `null` and (where it says so) empty are nothing.
/// - integer: a number without fraction, or a string of one.
/// - list: an array of strings, or one string with commas or line ends between them.
/// - flag: `true` or `false`, a number (0 is false), or a string: `true`, `1`, `yes`, `y`, `on`, `false`, `0`, `no`, `n`,
///   `off`, in either case.
extension KeyedDecodingContainer {
    /// A text that is not empty.
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

    /// The name of a module, which some servers write as a number.
    func module(_ key: Key) throws -> ModuleID {
        guard let text = try text(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "names no module"))
        }
        guard let module = ModuleID(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "\"\(text)\" names no module: use 1 to 64 letters, digits, '.', '_' and '-'"
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
                debugDescription: "\"\(text)\" is no version: use numbers with dots between them, such as 1.10.2"
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
                    "\"\(text)\" is no digest: use 32 hexadecimal digits of MD5, or sha256- and 64 of them"
            )
        }
        return digest
    }

    private func mismatch(_ key: Key, _ expected: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: "expected \(expected)")
    }
}

extension PackError {
    /// A body that is not what the format asks for.
    static func badAnswer(_ url: URL, _ error: any Error) -> PackError {
        PackError(
            .badAnswer,
            "\(url.shown) answered what is not in the expected format: \(error.place); "
                + "check that the address is that of an update server",
            cause: error
        )
    }

    /// A URL in an answer that cannot be fetched.
    static func badAddress(_ text: String, in name: String) -> PackError {
        PackError(.badAnswer, "\(name) \"\(text)\" is no http or https URL: correct it on the server")
    }
}

extension Error {
    /// Where in a JSON text something was wrong, and what.
    var place: String {
        let context: DecodingError.Context
        switch self as? DecodingError {
        case .dataCorrupted(let found)?, .typeMismatch(_, let found)?, .valueNotFound(_, let found)?: context = found
        case .keyNotFound(let key, let found)?:
            let path = (found.codingPath + [key]).map(\.stringValue).joined(separator: ".")
            return "\(path) is missing"
        default: return "\(self)"
        }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
    }
}

extension URL {
    /// The http or https URL that a text in an answer from `base` names.
    static func fetchable(_ text: String, relativeTo base: URL) -> URL? {
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL, url.isHTTP else { return nil }
        return url
    }
}
