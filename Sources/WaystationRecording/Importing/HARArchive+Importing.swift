package import Foundation
package import HTTPTypes
import WaystationHTTP

extension HARArchive.Entry {
    /// The exchange in the form that the cache needs.
    ///
    /// - Parameters:
    ///   - folder: The folder of the HAR file; nil if bodies that are files of their own cannot be read.
    ///   - limit: The most bytes of such a body.
    ///   - statuses: The statuses that are wanted; those that are stored by default.
    /// - Returns: The exchange.
    /// - Throws: ``ImportRefusal`` with the reason why the response is of no use.
    func archived(
        in folder: URL?,
        limit: Int,
        statuses: ClosedRange<Int> = 200...399
    ) throws(ImportRefusal) -> ArchivedExchange {
        // The checks of method and status need no body, so they come first.
        guard request.method == "GET", statuses ~= response.status, response.status != 304 else {
            throw request.method == "GET"
                ? ImportRefusal(
                    .status,
                    response.status == 0 ? "there is no response" : "its status is \(response.status)"
                )
                : ImportRefusal(.method, "its method is \(request.method.shown(upTo: 20))")
        }
        if let error = response.error, !error.isEmpty {
            throw ImportRefusal(.incomplete, "the load failed before its end: \(error.shown())")
        }
        let message = try response.message(in: folder, limit: limit)
        try response.checkComplete(message.body, message.fields)
        let body = message.body
        var fields = message.fields
        // Bytes that are in a file, or coded in the HAR, have the encoding that their type names.
        let isText = response.content.text.map { body.count == $0.utf8.count && body.elementsEqual($0.utf8) } ?? false
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

extension HARArchive.Response {
    /// The response as a message: its fields, and its body without codings, which a HAR never has, even if the fields name
    /// one.
    ///
    /// Imports and the recordings of the testing kit read the responses of a HAR by this function.
    ///
    /// - Parameters:
    ///   - folder: The folder of the HAR file; nil if bodies that are files of their own cannot be read.
    ///   - limit: The most bytes of such a body; 512 MiB by default.
    /// - Returns: The fields and the body.
    /// - Throws: ``ImportRefusal`` with the reason why the body cannot be had.
    package func message(
        in folder: URL?,
        limit: Int = 512 << 20
    ) throws(ImportRefusal) -> (fields: HTTPFields, body: Data) {
        (HTTPFields(recorded: headers.lazy.map { ($0.name, $0.value) }), try body(in: folder, limit: limit))
    }

    /// Checks that the recording has all bytes of the body, as far as it states their number: `content.size`,
    /// `Content-Length` and `bodySize`.
    ///
    /// More bytes than stated are no fault: some programs state the size of the coded body.
    ///
    /// - Throws: ``ImportRefusal`` with the reason `noBody` or `incomplete`.
    fileprivate func checkComplete(_ body: Data, _ fields: HTTPFields) throws(ImportRefusal) {
        let hasNoBody = 300...399 ~= status || status == 204 || status == 205
        guard !(body.isEmpty && hasNoBody) else { return }
        var length: Int?
        if case .bytes(let count) = ContentLength(lines: fields[values: .contentLength]) { length = count }
        guard !body.isEmpty else {
            // A stated length of 0 counts more than `bodySize`, which may count the framing of a transfer.
            let stated = max(content.size, length ?? bodySize)
            guard stated <= 0 else {
                throw ImportRefusal(.noBody, "the recording does not have its body, which has \(stated) bytes")
            }
            return
        }
        let isCoded = ContentCodings(fields[values: .contentEncoding]).areRemoved
        try check(body, against: content.size, mayBeCoded: isCoded && [length, bodySize].contains(content.size))
        // The length of a coded body says nothing about this one, and that of a body with secrets is another one.
        guard let length, !isCoded, !(content.text?.contains(Redaction.placeholder) ?? false) else { return }
        try check(body, against: length, mayBeCoded: false)
    }

    private func check(_ body: Data, against size: Int, mayBeCoded: Bool) throws(ImportRefusal) {
        // A coding adds little to a body that cannot be made smaller.
        let stated = mayBeCoded ? size - 64 - body.count / 256 : size
        guard stated > body.count, !mayBeTranscoded(body, from: size) else { return }
        throw ImportRefusal(.incomplete, "the recording has only \(body.count) of \(size) bytes of its body")
    }

    /// Whether a text may be whole although its bytes in UTF-8 are fewer than the bytes that the server sent.
    ///
    /// A browser decodes a text, and leaves out a byte order mark: 3 bytes of UTF-8, or 2 of UTF-16.
    private func mayBeTranscoded(_ body: Data, from size: Int) -> Bool {
        guard let text = content.text, content.encoding == nil, !content.isBinary, !text.isEmpty else { return false }
        if size == body.count + 3 { return text.unicodeScalars.first != "\u{FEFF}" }
        let type = headers.first { $0.name.equalsIgnoringCase("Content-Type") }?.value ?? content.mimeType
        let charset = ParameterizedValue(type).parameters.first { $0.name == "charset" }?.value?.lowercased()
        let units = text.utf16.count * 2
        guard let charset else { return size == units + 2 }
        return !["utf-8", "utf8", "us-ascii"].contains(charset) && size <= units + 2
    }
}
