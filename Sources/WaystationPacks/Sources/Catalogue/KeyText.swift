import Foundation

/// The text forms of keys: a prefix for the kind of key, and 32 bytes in base64.
enum KeyText {
    static func bytes(of text: String, after prefix: String) -> Data? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            bytes.count == 32
        else { return nil }
        return bytes
    }
}
