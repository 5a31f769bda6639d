import Foundation

/// The parts of `Content-Type` that the crawler uses.
struct ContentType: Equatable {
    /// The type in lower case; empty if it is unknown.
    var mimeType = ""
    var charset: String?

    init(field: String?) {
        guard let field else { return }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        mimeType = parts[0].trimmingCharacters(in: .whitespaces).lowercased()
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if pair.count == 2, pair[0].lowercased() == "charset" {
                charset = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"'")).lowercased()
            }
        }
    }
}
