import Foundation

/// The text of a document, in the encoding in which a browser reads it.
struct PageText {
    /// The text in UTF-8 without a byte order mark.
    let utf8: Data
    let encoding: WebEncoding
    let confidence: Confidence
    /// The reason why characters outside ASCII were lost, in words; nil if all were read.
    let problem: String?

    /// HTML's "confidence" of the encoding.
    enum Confidence {
        /// Nothing changes it any more.
        case certain
        /// A `meta` element that only the parser finds still decides.
        case tentative
        /// Nothing states it, and a `meta` element decides.
        case guessed
    }

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
            self.init(bytes.dropFirst(length), in: encoding)
        } else if let encoding = charset.flatMap({ WebEncoding(label: $0) }) {
            self.init(bytes, in: encoding)
        } else {
            switch form {
            case .html:
                if let encoding = EncodingPrescan.html(start) ?? parent {
                    self.init(bytes, in: encoding, confidence: .tentative)
                } else if Self.isUTF8(bytes) {
                    self.init(utf8: bytes, encoding: .utf8, confidence: .guessed, problem: nil)
                } else {
                    self.init(bytes, in: .windows1252, confidence: .guessed)
                }
            case .xml:
                self.init(bytes, in: EncodingPrescan.xml(start) ?? .utf8)
            case .css:
                self.init(bytes, in: EncodingPrescan.css(start) ?? parent ?? .utf8)
            case .plain:
                self.init(bytes, in: .utf8)
            }
        }
    }

    private init(utf8: Data, encoding: WebEncoding, confidence: Confidence, problem: String?) {
        self.utf8 = utf8
        self.encoding = encoding
        self.confidence = confidence
        self.problem = problem
    }

    /// Reads a document whose encoding is known.
    ///
    /// `decode` returns nil if the system lacks the encoding's table.
    init(
        _ bytes: Data,
        in encoding: WebEncoding,
        confidence: Confidence = .certain,
        decode: (Data, WebEncoding) -> Data? = PageText.decoded
    ) {
        let utf8: Data
        var problem: String?
        // Many pages with an encoding of their own are ASCII.
        if encoding == .utf8 ? Self.isUTF8(bytes) : encoding.keepsASCII && Self.isASCII(bytes) {
            utf8 = bytes
        } else if let text = decode(bytes, encoding) {
            utf8 = text
        } else {
            // Markup is ASCII in all encodings that need a table, so most links can still be read.
            utf8 = Self.decoded(Data(bytes.map { $0 < 0x80 ? $0 : 0xFF }), in: .utf8) ?? Data()
            problem = """
                its characters are in \(encoding.rawValue), which this system's iconv does not know: install the C \
                library's character sets (libc-gconv-modules-extra of Debian, glibc-gconv-extra of Fedora)
                """
        }
        self.init(utf8: utf8, encoding: encoding, confidence: confidence, problem: problem)
    }

    static func decoded(_ bytes: Data, in encoding: WebEncoding) -> Data? {
        bytes.withUnsafeBytes { encoding.decoded($0.bindMemory(to: UInt8.self)) }.map { Data($0) }
    }

    /// The encoding of a byte order mark, and the number of its bytes (Encoding, "BOM sniff").
    private static func byteOrderMark(_ bytes: Data) -> (WebEncoding, Int)? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16BE, 2) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16LE, 2) }
        return nil
    }

    private static func isASCII(_ bytes: Data) -> Bool {
        // Without an early end, so that the compiler compares many bytes at once.
        bytes.withUnsafeBytes { $0.reduce(0, |) } < 0x80
    }

    private static func isUTF8(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { (try? UTF8Span(validating: $0.bindMemory(to: UInt8.self).span)) != nil }
    }
}
