import WaystationHTTP

/// Judges by its characters whether a value is a secret.
enum SecretValue {
    /// Whether a value was made by chance or by a cryptographic function, and not by a person who names something.
    ///
    /// It is long enough and mixes letters and digits, as words, dates, sizes and versions do not.
    static func looksRandom(_ value: [UInt8]) -> Bool {
        guard value.count >= shortestRandom, !value.contains(where: { $0 <= 0x20 }) else { return false }
        let words = value.split { !$0.isASCIIAlphanumeric }
        if words.contains(where: isMixed) { return true }
        guard value.count >= longRandom else { return false }
        let longest = words.map(\.count).max() ?? 0
        let hasLetters = value.contains { $0.isASCIILetter }
        let hasDigits = value.contains { $0.isASCIIDigit }
        if hasLetters, hasDigits, !isDate(value) { return true }
        // A word of this length without a sign of its own is none of a language.
        return longest >= longRandom
    }

    /// Whether a value is longer than what a cookie keeps of a user's choices: words, dates, sizes.
    static func isLong(_ value: [UInt8]) -> Bool {
        guard !value.contains(where: { $0 <= 0x20 }), !isDate(value) else { return false }
        let hasBoth = value.contains(where: \.isASCIIDigit) && value.contains(where: \.isASCIILetter)
        return value.count >= (hasBoth ? longMixed : longRandom)
    }

    /// Whether letters and digits alternate in a word, other than in a size such as `1920x1080`.
    private static func isMixed(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= 6 else { return false }
        var changes = 0
        for (first, second) in zip(word, word.dropFirst()) where first.isASCIIDigit != second.isASCIIDigit {
            changes += 1
        }
        let letters = word.filter(\.isASCIILetter)
        return changes >= 2 && !(changes == 2 && letters.count == 1 && letters[0].lowercased == UInt8(ascii: "x"))
    }

    /// Whether a value is a date and time, such as `2026-11-27T09:19:48.123Z`.
    private static func isDate(_ value: [UInt8]) -> Bool {
        value.allSatisfy { $0.isASCIIDigit || "-:.+TZtz".utf8.contains($0) }
            && value.prefix(4).allSatisfy(\.isASCIIDigit)
    }

    /// Whether a value consists of words that many values consist of, or names a secret instead of being one.
    static func isCommon(_ value: [UInt8]) -> Bool {
        let text = String(decoding: value, as: UTF8.self).lowercased()
        let words = text.split { !$0.isLetter && !$0.isNumber }
        return words.allSatisfy { $0.allSatisfy(\.isNumber) && $0.count < 6 || common.contains(String($0)) }
    }

    private static let shortestRandom = 8
    private static let longMixed = 12
    private static let longRandom = 16

    private static let common: Set = [
        "accept", "accepted", "admin", "agreed", "all", "allow", "allowed", "anonymous", "api", "auto", "basic",
        "bearer",
        "changeme", "choice", "closed", "consent", "cookie", "cookies", "dark", "declined", "default", "deny", "denied",
        "desktop", "digest", "disabled", "dismissed", "enabled", "essential", "example", "false", "functional", "given",
        "granted", "guest", "hidden", "id", "invalid", "key", "light", "marketing", "mobile", "necessary", "no", "none",
        "null", "off", "on", "only", "optional", "pass", "passphrase", "password", "passwort", "preferences",
        "redacted",
        "reject", "rejected", "required", "secret", "seen", "session", "shown", "statistics", "string", "test", "token",
        "true", "undefined", "unknown", "user", "yes",
    ]
}
