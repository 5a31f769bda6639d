import Foundation
import HTTPTypes
import WaystationHTTP

extension HARArchive.Entry {
    /// The exchange in the form that the cache needs.
    ///
    /// - Parameters:
    ///   - folder: The folder of the HAR file; nil if bodies that are files of their own cannot be read.
    ///   - limit: The most bytes of such a body.
    /// - Returns: The exchange.
    /// - Throws: ``ImportRefusal`` with the reason why the response is not stored.
    func archived(in folder: URL?, limit: Int) throws(ImportRefusal) -> ArchivedExchange {
        // The checks of method and status need no body, so they come first.
        guard request.method == "GET", 200...399 ~= response.status, response.status != 304 else {
            throw request.method == "GET"
                ? ImportRefusal(
                    .status,
                    response.status == 0 ? "there is no response" : "its status is \(response.status)"
                )
                : ImportRefusal(.method, "its method is \(request.method.shown(upTo: 20))")
        }
        var fields = HTTPFields(recorded: response.headers.map { ($0.name, $0.value) })
        let body = try response.body(in: folder, limit: limit)
        // Bytes that are in a file, or coded in the HAR, have the encoding that their type names.
        let isText = response.content.text.map { body == Data($0.utf8) } ?? false
        if isText, let type = fields[.contentType] { fields[.contentType] = Self.utf8(type, of: body) }
        // A body in a HAR has no codings, even if the fields name one.
        return ArchivedExchange(
            method: request.method,
            url: request.url,
            requestFields: HTTPFields(recorded: request.headers.map { ($0.name, $0.value) }),
            status: response.status,
            fields: fields,
            body: body,
            requestTime: started,
            responseTime: started?.addingTimeInterval(min(86_400, max(0, time.isFinite ? time : 0) / 1_000))
        )
    }

    /// Text in a HAR is decoded and is stored as UTF-8, so its media type must say UTF-8.
    ///
    /// Otherwise a browser would read the page in its former encoding, if a `<meta>` of the page names that.
    private static func utf8(_ type: String, of body: Data) -> String {
        let parts = type.utf8.splitOutsideQuotes(at: UInt8(ascii: ";")).map { Substring($0) }
        guard parts.contains(where: isCharset) else {
            let isASCII = body.allSatisfy { $0 < 0x80 }
            guard !isASCII, mayHaveCharset(type) else { return type }
            return type.trimmingCharacters(in: [";", " ", "\t"]) + "; charset=utf-8"
        }
        return parts.map { isCharset($0) ? " charset=utf-8" : String($0) }.joined(separator: ";")
    }

    private static func isCharset(_ parameter: Substring) -> Bool {
        let parameter = FieldParameter(parameter)
        return parameter.name == "charset" && parameter.value != nil
    }

    /// Whether a media type may have a `charset`.
    ///
    /// JSON has none: its encoding is always UTF-8.
    private static func mayHaveCharset(_ type: String) -> Bool {
        let essence = ParameterizedValue(type).value
        return essence.hasPrefix("text/") || essence.hasSuffix("/xml") || essence.hasSuffix("+xml")
            || essence.hasSuffix("javascript")
    }
}
