import Foundation
import HTTPTypes
import Waystation
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// One request and its response, in the form in which a WARC records them, without secrets.
///
/// Bodies are written as apps get them, decoded. So the fields of the codings are left out, and a strong entity tag of coded
/// bytes becomes a weak one, as in the cache (RFC 9110 §8.8.3.3).
struct Capture {
    typealias Field = (name: String, value: String)

    /// The canonical URL of the response.
    let url: String
    /// When the response arrived.
    let date: Date
    let method: String
    let requestFields: [Field]
    let requestBody: Data
    let status: Int
    let fields: [Field]
    let body: any ByteSource
    /// Why the body is not complete, in the words of `WARC-Truncated` (ISO 28500 §5.13); nil for a complete body.
    let truncation: String?

    /// Makes the capture of a load; nil for one without a response, and for one of another scheme than http and https.
    ///
    /// - Parameters:
    ///   - exchange: The load; its body does not count.
    ///   - body: The body; nil if it was not seen.
    ///   - redaction: The secrets that are left out.
    init?(_ exchange: RecordedExchange, body: (any ByteSource)?, _ redaction: Redaction) {
        guard let head = exchange.response,
            // Foundation's own loader may have followed a redirect: the response is that of the last URL.
            let url = Self.url((head.url ?? exchange.request.url)?.absoluteString ?? "", redaction)
        else { return nil }
        self.url = url
        date = exchange.begun.addingTimeInterval(exchange.wait)
        let method = exchange.request.httpMethod ?? "GET"
        self.method = method
        requestFields = (exchange.request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
            .map { ($0.key, redaction.value($0.value, ofField: $0.key)) }
        let type = exchange.request.value(forHTTPHeaderField: "Content-Type") ?? "application/x-www-form-urlencoded"
        requestBody = exchange.request.httpBody.map { redaction.body($0, type: type) } ?? Data()
        status = head.statusCode

        let received = (head.allHeaderFields as? [String: String] ?? [:]).sorted { $0.key < $1.key }
        let content = CodedFields(received.map { ($0.key, $0.value) })
        let length = body?.length ?? 0
        if let error = exchange.error {
            truncation = error.code == .timedOut ? "time" : "disconnect"
        } else if length < exchange.bodyLength {
            truncation = body == nil ? "unspecified" : "length"
        } else if body == nil, Self.hasBody(method, head.statusCode), !content.statesEmptyBody {
            // The body of a redirect, or of a download, was not seen.
            truncation = "unspecified"
        } else {
            truncation = nil
        }
        let isCounted = Self.hasBody(method, head.statusCode) && truncation == nil
        fields = content.decoded(length: isCounted ? length : nil)
            .map { ($0.name, redaction.value($0.value, ofField: $0.name)) }
        self.body = body ?? DataSource(Data())
    }

    /// Makes the capture of a stored response; nil for a key that is not a web address.
    init?(_ head: StoredHead, body: any ByteSource, _ redaction: Redaction) {
        guard let url = Self.url(head.key.answeredURL, redaction) else { return nil }
        self.url = url
        date = head.responseTime
        method = head.key.method
        requestFields = head.vary.nominees.compactMap { nominee in
            nominee.value.map { (nominee.name.rawName, redaction.value($0, ofField: nominee.name.rawName)) }
        }
        requestBody = Data()
        status = head.status
        let stored = head.headerFields.confirmed().map { ($0.name.rawName, $0.value) }
        fields = CodedFields(stored).decoded(length: nil).map { ($0.name, redaction.value($0.value, ofField: $0.name)) }
        self.body = body
        truncation = nil
    }

    private static func url(_ text: String, _ redaction: Redaction) -> String? {
        guard let canonical = CanonicalURL(text), canonical.scheme == "http" || canonical.scheme == "https" else {
            return nil
        }
        return redaction.url(canonical.string)
    }

    /// Whether a response has a body (RFC 9110 §6.4.1).
    private static func hasBody(_ method: String, _ status: Int) -> Bool {
        method != "HEAD" && status != 204 && status != 304 && status >= 200
    }

    /// The media type without parameters, as it is written in the field.
    var mime: String? {
        fields.first { $0.name.equalsIgnoringCase("Content-Type") }
            .map { String($0.value.prefix { $0 != ";" && !$0.isWhitespace }) }
    }

    /// Whether a person would open the URL in a browser: it is that of a whole document.
    var isPage: Bool {
        guard method == "GET", 200...299 ~= status, status != 206, truncation == nil, let mime else { return false }
        return ["text/html", "application/xhtml+xml"].contains(mime.lowercased())
    }

    /// The beginning of the request's message, up to its body.
    var requestHead: Data {
        let canonical = CanonicalURL(url)
        var fields = requestFields
        if let canonical, !fields.contains(where: { $0.name.equalsIgnoringCase("Host") }) {
            fields.insert(("Host", canonical.port.map { "\(canonical.host):\($0)" } ?? String(canonical.host)), at: 0)
        }
        return Self.head("\(method) \(canonical.map { String($0.pathAndQuery) } ?? "/") HTTP/1.1", fields)
    }

    /// The beginning of the response's message, up to its body.
    var responseHead: Data {
        // Apps do not see the reason phrase, and it may be absent, but not the space before it (RFC 9112 §4).
        Self.head("HTTP/1.1 \(status) ", fields)
    }

    private static func head(_ line: String, _ fields: [Field]) -> Data {
        var text = "\(line)\r\n"
        for field in fields where field.name.utf8.isToken { text += "\(field.name): \(field.value.inOneLine)\r\n" }
        return Data((text + "\r\n").utf8)
    }
}

extension String {
    /// The text without line ends and NULs, so that it cannot end a field.
    var inOneLine: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D || $0 == 0 }) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { ["\r", "\n", "\0"].contains($0) ? " " : $0 }))
    }
}

/// The fields of a response whose body was decoded.
private struct CodedFields {
    private let fields: [Capture.Field]
    private let isCoded: Bool

    init(_ fields: [Capture.Field]) {
        self.fields = fields
        isCoded = ContentCodings(Self.values("Content-Encoding", in: fields)).areRemoved
    }

    private static func values(_ name: String, in fields: [Capture.Field]) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// The members of `Cache-Status` that other caches have written; nil if only Waystation has written one.
    private static func others(_ value: String) -> String? {
        let others = value.quotedListMembers.filter { $0.prefix { $0 != ";" } != "Waystation" }
        return others.isEmpty ? nil : others.joined(separator: ", ")
    }

    /// Whether the fields say that the body is empty.
    var statesEmptyBody: Bool {
        guard Self.values("Transfer-Encoding", in: fields).isEmpty else { return false }
        if case .bytes(0) = ContentLength(lines: Self.values("Content-Length", in: fields)) { return true }
        return false
    }

    /// The fields that are true of the decoded body.
    ///
    /// - Parameter length: The number of its bytes; nil if the stated length stays.
    /// - Returns: The fields.
    func decoded(length: Int?) -> [Capture.Field] {
        fields.compactMap { field in
            switch field.name.lowercased() {
            case "transfer-encoding": nil
            case "content-encoding": isCoded ? nil : field
            case "content-length":
                if let length { (field.name, "\(length)") } else { isCoded ? nil : field }
            case "cache-status":
                // The member of this cache is not the server's (RFC 9211 §2).
                Self.others(field.value).map { (field.name, $0) }
            case "etag": isCoded && field.value.hasPrefix("\"") ? (field.name, "W/" + field.value) : field
            default: field
            }
        }
    }
}
