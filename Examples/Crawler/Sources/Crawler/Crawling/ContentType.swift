import Foundation

/// The parts of `Content-Type` that the crawler uses, read as browsers do (WHATWG MIME Sniffing, section 4.4).
struct ContentType: Equatable {
    /// The type in lower case; empty if it is unknown.
    var mimeType = ""
    /// The first `charset`, as it is written; only double quotes are removed.
    var charset: String?

    /// Reads a field; of several, which are joined by commas, the last type counts, and it keeps the charset of an equal
    /// type before it (WHATWG Fetch, "extract a MIME type").
    init(field: String?) {
        for value in Self.split(field ?? "", at: ",") {
            let parts = Self.split(value, at: ";")
            let type = parts[0].trimmingCharacters(in: .whitespaces).lowercased()
            guard type.contains("/"), type != "*/*" else { continue }
            let charset = parts.dropFirst().lazy.compactMap(Self.charset).first
            self.charset = charset ?? (type == mimeType ? self.charset : nil)
            mimeType = type
        }
    }

    /// The value of a parameter named `charset`; nil for other parameters.
    private static func charset(_ parameter: String) -> String? {
        let pair = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard pair.count == 2, pair[0].lowercased() == "charset" else { return nil }
        guard pair[1].hasPrefix("\"") else { return pair[1] }
        var value = ""
        var isEscaped = false
        for character in pair[1].dropFirst() {
            if isEscaped {
                value.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                break
            } else {
                value.append(character)
            }
        }
        return value
    }

    /// The parts between separators outside of quoted strings; always one part at least.
    private static func split(_ text: String, at separator: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == separator, !isQuoted {
                parts.append("")
                continue
            }
            parts[parts.count - 1].append(character)
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            }
        }
        return parts
    }
}
