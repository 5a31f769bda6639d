import Foundation

/// The text of a document, in the encoding in which a browser reads it.
struct PageText {
    /// The text in UTF-8 without a byte order mark.
    let utf8: Data
    let encoding: WebEncoding
    /// Whether the encoding is settled; otherwise a `meta` element that only the parser finds still decides.
    let isCertain: Bool
    /// The reason why characters outside ASCII were lost, in words; nil if all were read.
    let problem: String?

    /// The rules by which a document states its encoding.
    enum Form {
        /// HTML, "determining the character encoding".
        case html
        /// XML 1.0, appendix F: the XML declaration, otherwise UTF-8.
        case xml
        /// CSS Syntax Level 3, section 3.2: `@charset`, then the encoding of the document that links to it.
        case css
        /// UTF-8 unless its bytes say something else.
        case plain
    }

    /// Reads a document.
    ///
    /// A byte order mark wins over all else, then comes the response's charset, then the document's own declaration. An
    /// HTML page without any of these has the encoding of the page whose frame it is; then it is UTF-8 if its bytes are
    /// valid, and windows-1252 otherwise.
    ///
    /// - `charset`: The label in the response's `Content-Type`. A label that browsers do not know counts as none.
    /// - `parent`: The encoding of the page whose frame, or whose style sheet, the document is.
    init(_ bytes: Data, charset: String?, form: Form, parent: WebEncoding? = nil) {
        let start = bytes.prefix(1024)
        if let (encoding, length) = Self.byteOrderMark(start) {
            self.init(bytes.dropFirst(length), in: encoding, isCertain: true)
        } else if let encoding = charset.flatMap({ WebEncoding(label: $0) }) {
            self.init(bytes, in: encoding, isCertain: true)
        } else {
            switch form {
            case .html:
                let declared = EncodingPrescan.html(start) ?? parent
                let guess = declared ?? (Self.isUTF8(bytes) ? .utf8 : .windows1252)
                self.init(bytes, in: guess, isCertain: false)
            case .xml:
                self.init(bytes, in: EncodingPrescan.xml(start) ?? .utf8, isCertain: true)
            case .css:
                self.init(bytes, in: EncodingPrescan.css(start) ?? parent ?? .utf8, isCertain: true)
            case .plain:
                self.init(bytes, in: .utf8, isCertain: true)
            }
        }
    }

    /// Reads a document whose encoding is known.
    init(_ bytes: Data, in encoding: WebEncoding, isCertain: Bool = true) {
        self.encoding = encoding
        self.isCertain = isCertain
        if encoding == .utf8, Self.isUTF8(bytes) {
            utf8 = bytes
            problem = nil
        } else if let text = Self.decoded(bytes, in: encoding) {
            utf8 = text
            problem = nil
        } else {
            // Markup is ASCII in all encodings that need a table, so most links can still be read.
            utf8 = Self.decoded(Data(bytes.map { $0 < 0x80 ? $0 : 0xFF }), in: .utf8) ?? Data()
            problem = """
                its characters are in \(encoding.rawValue), which this system's iconv does not know: install the C \
                library's character sets (Debian: libc6 and libc-gconv-modules-extra, Fedora: glibc-gconv-extra)
                """
        }
    }

    private static func decoded(_ bytes: Data, in encoding: WebEncoding) -> Data? {
        bytes.withUnsafeBytes { encoding.decoded($0.bindMemory(to: UInt8.self)) }.map { Data($0) }
    }

    /// The encoding of a byte order mark, and the number of its bytes (Encoding, "BOM sniff").
    private static func byteOrderMark(_ bytes: Data) -> (WebEncoding, Int)? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16BE, 2) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16LE, 2) }
        return nil
    }

    private static func isUTF8(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { String(validating: $0.bindMemory(to: UInt8.self), as: UTF8.self) != nil }
    }
}
