import HTTPTypes
package import Waystation
package import WaystationFoundation
import WaystationHTTP
import WaystationStorage

extension HARArchive.Entry {
    /// Makes the entry of an exchange, without secrets.
    package init(_ exchange: RecordedExchange, _ redaction: Redaction) {
        let received = exchange.duration - exchange.wait
        let request = HARArchive.Request(exchange.request, redaction)
        var comment: String?
        if let error = exchange.error {
            comment = "failed: URLError \(error.code.rawValue)"
        } else if let url = exchange.response?.url, let asked = exchange.request.url, url != asked {
            comment = "redirected on the way to \(redaction.url(url.absoluteString))"
        }
        self.init(
            started: exchange.begun,
            time: exchange.duration * 1_000,
            request: request,
            response: HARArchive.Response(exchange, redaction),
            timings: HARArchive.Timings(wait: exchange.wait * 1_000, receive: max(0, received) * 1_000),
            source: exchange.source?.description,
            comment: comment
        )
    }

    /// Makes the entry of a stored response, without secrets.
    init(_ head: StoredHead, _ body: Data, _ redaction: Redaction) {
        let fields = head.vary.nominees.compactMap { nominee in nominee.value.map { (nominee.name.rawName, $0) } }
        let wait = max(0, head.responseTime.timeIntervalSince(head.requestTime)) * 1_000
        let responseFields = head.headerFields.confirmed().map { ($0.name.rawName, $0.value) }
        self.init(
            started: head.requestTime,
            time: wait,
            request: HARArchive.Request(head.key.method, head.key.answeredURL, fields, redaction),
            response: HARArchive.Response(
                head.status,
                responseFields,
                HARArchive.Content(body, length: body.count, type: head.headerFields[.contentType]),
                redaction
            ),
            timings: HARArchive.Timings(wait: wait),
            source: "cache"
        )
    }
}

extension HARArchive.Request {
    /// Makes the request of an entry, without secrets.
    package init(_ request: URLRequest, _ redaction: Redaction) {
        self.init(
            request.httpMethod ?? "GET",
            request.url?.absoluteString ?? "",
            (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            redaction
        )
        guard let body = request.httpBody, !body.isEmpty else { return }
        let type = request.value(forHTTPHeaderField: "Content-Type") ?? "application/x-www-form-urlencoded"
        let (text, encoding) = ByteText.text(redaction.body(body, type: type), type: type)
        postData = HARArchive.PostData(mimeType: type, text: text, encoding: encoding)
        bodySize = body.count
    }

    fileprivate init(_ method: String, _ url: String, _ fields: [(String, String)], _ redaction: Redaction) {
        let text = redaction.url(String(url.prefix { $0 != "#" }))
        let query = text.firstIndex(of: "?").map { text[text.index(after: $0)...] } ?? ""
        self.init(
            method: method,
            url: text,
            cookies: fields.filter { $0.0.equalsIgnoringCase("Cookie") }.flatMap { name, value in
                Self.cookies(value, isHidden: redaction.hides(field: name))
            },
            headers: fields.map { HARArchive.Pair($0, redaction.value($1, ofField: $0)) },
            queryString: query.split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return HARArchive.Pair(Redaction.decoded(parts[0]), parts.count > 1 ? Redaction.decoded(parts[1]) : "")
            },
            bodySize: 0
        )
    }

    private static func cookies(_ field: String, isHidden: Bool) -> [HARArchive.Cookie] {
        CookiePairs(field).pairs.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.trimmingSpace() }
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            return HARArchive.Cookie(name: parts[0], value: isHidden ? Redaction.placeholder : parts[1])
        }
    }
}

extension HARArchive.Response {
    fileprivate init(_ exchange: RecordedExchange, _ redaction: Redaction) {
        guard let head = exchange.response else {
            self.init(status: 0)
            return
        }
        let fields = (head.allHeaderFields as? [String: String] ?? [:]).sorted { $0.key < $1.key }
        var content = HARArchive.Content(
            exchange.body,
            length: exchange.bodyLength,
            type: head.value(forHTTPHeaderField: "Content-Type")
        )
        if exchange.error != nil {
            content.isTruncated = true
            content.comment = "the load failed before the end of the body"
        } else if exchange.body == nil, exchange.source != nil {
            content.isTruncated = true
            content.comment = "the body of a download was not recorded"
        }
        self.init(head.statusCode, fields.map { ($0.key, $0.value) }, content, redaction)
    }

    fileprivate init(
        _ status: Int,
        _ fields: [(String, String)],
        _ content: HARArchive.Content,
        _ redaction: Redaction
    ) {
        let location = fields.first { $0.0.equalsIgnoringCase("Location") }?.1
        self.init(
            status: status,
            cookies: fields.filter { $0.0.equalsIgnoringCase("Set-Cookie") }.flatMap { name, value in
                Self.cookies(value, isHidden: redaction.hides(field: name))
            },
            headers: fields.map { HARArchive.Pair($0, redaction.value($1, ofField: $0)) },
            content: content,
            redirectURL: location.map(redaction.url) ?? ""
        )
    }

    private static func cookies(_ field: String, isHidden: Bool) -> [HARArchive.Cookie] {
        guard let url = URL(string: "http://localhost/") else { return [] }
        return HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url).map { cookie in
            HARArchive.Cookie(
                name: cookie.name,
                value: isHidden ? Redaction.placeholder : cookie.value,
                path: cookie.path,
                httpOnly: cookie.isHTTPOnly,
                secure: cookie.isSecure
            )
        }
    }
}

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
        let type = ParameterizedValue(type)
        for parameter in type.parameters where parameter.name == "charset" {
            // Some servers write apostrophes in place of quotation marks.
            let name = (parameter.value ?? "").trimmingCharacters(in: ["'"]).lowercased()
            guard ["utf-8", "utf8", "us-ascii"].contains(name) else { return false }
        }
        let essence = type.value
        return essence.hasPrefix("text/") || essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || [
                "application/json", "application/javascript", "application/ecmascript", "application/xml",
                "application/x-www-form-urlencoded", "application/manifest+json",
            ].contains(essence)
    }
}
