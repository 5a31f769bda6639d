import Foundation

extension HARArchive.Content {
    /// Makes a body to write: as text when the text gives the same bytes back, otherwise in Base64.
    init(_ body: Data?, length: Int, type: String?) {
        let type = type ?? "x-unknown"
        guard let body else {
            self.init(
                size: length,
                mimeType: type,
                isTruncated: length > 0,
                comment: length > 0 ? "none of the \(length) bytes were kept" : nil
            )
            return
        }
        let (text, encoding) = ByteText.text(body, type: type)
        let isCut = body.count < length
        self.init(
            size: length,
            mimeType: type,
            text: text,
            encoding: encoding,
            isTruncated: isCut,
            comment: isCut ? "\(body.count) of \(length) bytes were kept" : nil
        )
    }
}

/// Bytes as text in JSON.
enum ByteText {
    /// The text, or Base64 and the name of that encoding.
    static func text(_ bytes: Data, type: String) -> (String, encoding: String?) {
        if isUTF8Text(type), let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (bytes.base64EncodedString(), "base64")
    }

    /// Whether a media type is text in UTF-8 or ASCII.
    private static func isUTF8Text(_ type: String) -> Bool {
        let parts = type.lowercased().split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let essence = parts.first else { return false }
        for part in parts.dropFirst() where part.hasPrefix("charset=") {
            let name = part.dropFirst("charset=".count).trimmingCharacters(in: ["\"", "'"])
            guard ["utf-8", "utf8", "us-ascii"].contains(name) else { return false }
        }
        return essence.hasPrefix("text/") || essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || [
                "application/json", "application/javascript", "application/ecmascript", "application/xml",
                "application/x-www-form-urlencoded", "application/manifest+json",
            ].contains(essence)
    }
}
