import Foundation
import HTTPTypes
import WaystationHTTP

/// A name by which a revisit record refers to the record with its body (ISO 28500 §6.7).
enum BodyName: Hashable {
    case digest(WARCDigest)
    case record(id: String)
    /// The URL in canonical form, and the time in microseconds.
    case capture(url: String, time: Int64)
    /// The latest capture of a URL before the revisit record in the file.
    case url(String)

    /// The capture of a URL, if its time can be read.
    static func capture(_ url: String?, _ date: Date?) -> BodyName? {
        guard let url, let date else { return nil }
        let time = (date.timeIntervalSince1970 * 1_000_000).rounded()
        return .capture(url: canonical(url), time: Int64(exactly: time) ?? 0)
    }

    static func url(of text: String?) -> BodyName? { text.map { .url(canonical($0)) } }

    private static func canonical(_ url: String) -> String {
        (try? ArchivedExchange.address(url))?.string ?? url
    }
}

extension WARCRecord {
    /// The request of a response, as far as it decides what the response is.
    struct Request {
        let method: String
        let fields: HTTPFields
    }

    /// The URI that the record is about; empty if it has none.
    var url: String { targetURI ?? "" }

    var payloadDigest: WARCDigest? { self["WARC-Payload-Digest"].map(WARCDigest.init) }

    /// The names by which a revisit record refers to the record with its body, the most reliable one first.
    var namesOfOriginal: [BodyName] {
        let referred = self["WARC-Refers-To-Target-URI"].map(Self.unbracketed)
        let date = self["WARC-Refers-To-Date"].flatMap(Timestamp.date)
        return [
            payloadDigest.map(BodyName.digest), self["WARC-Refers-To"].map { .record(id: Self.unbracketed($0)) },
            .capture(referred, date),
            // Without a digest and a time, it is the response to the same URL that the server confirmed.
            payloadDigest == nil && date == nil ? .url(of: referred ?? targetURI) : nil,
        ].compactMap(\.self)
    }

    /// The names by which a revisit record may refer to this record, without its digest.
    var names: [BodyName] {
        [id.map { .record(id: $0) }, .capture(targetURI, date), .url(of: targetURI)].compactMap(\.self)
    }

    /// The digests by which a revisit record may refer to a body: the stated one, or else computed ones.
    ///
    /// Programs compute them of the body as it was transferred, or of the decoded one.
    func digests(of content: Data, _ body: Data?) -> [WARCDigest] {
        if let payloadDigest { return [payloadDigest] }
        guard let body, body != content else { return WARCDigest.all(of: content) }
        return WARCDigest.all(of: content) + WARCDigest.all(of: body)
    }

    /// The status and the fields of a revisit record: its own ones, those of the original if it has no block, or those of the
    /// original with the fields of a 304 (RFC 9111 §3.2).
    func revisited(
        _ status: Int,
        _ fields: HTTPFields
    ) throws(ImportRefusal) -> (status: Int, fields: HTTPFields) {
        guard let block else { throw ImportRefusal(.tooLarge, "the head of the revisit record is too large") }
        guard !block.isEmpty else { return (status, fields) }
        // Some programs leave out the empty line after the head.
        let hasEnd = (try? HTTPBlock(block)) != nil
        let message = try HTTPBlock(hasEnd ? block : block + Data("\r\n\r\n".utf8))
        let own = try message.status()
        guard own == 304 else { return (own, message.fields) }
        let ofContent: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange, .transferEncoding]
        let newer = message.fields.filter { !ofContent.contains($0.name) }
        let replaced = Set(newer.map(\.name)).union([.age, .date])
        return (status, HTTPFields(fields.filter { !replaced.contains($0.name) } + newer))
    }

    /// The IDs of the records of the same exchange, including this record's own.
    var relatives: [String] {
        [id].compactMap(\.self) + values(of: "WARC-Concurrent-To").map(Self.unbracketed)
    }

    /// The exchange of a `response` or `resource` record, without codings.
    ///
    /// - Parameters:
    ///   - request: The request; nil if the file has no record of it.
    ///   - limit: The most bytes of the body without its codings.
    /// - Returns: The exchange, and the bytes of its body as they were transferred.
    /// - Throws: ``ImportRefusal`` when the record is damaged, cut off or too large.
    func exchange(_ request: Request?, limit: Int) throws(ImportRefusal) -> (exchange: ArchivedExchange, content: Data)
    {
        _ = try ArchivedExchange.address(url)
        guard let block else {
            throw ImportRefusal(.tooLarge, "the record has \(blockLength) bytes, but \(limit) are allowed")
        }
        guard isIntact else {
            throw ImportRefusal(.damagedBody, "the bytes of the record do not match its digest")
        }
        guard self["WARC-Segment-Number"] == nil else {
            throw ImportRefusal(.incomplete, "the record has only the first segment of its block")
        }
        let cutOff = self["WARC-Truncated"].map {
            ImportRefusal(.incomplete, "the record was cut off: \($0.shown())")
        }
        guard type == "response" else {
            if let cutOff { throw cutOff }
            return (resource(block), block)
        }
        let message = try HTTPBlock(block)
        let status = try message.status()
        // A client that follows a redirect does not see its body, and needs none.
        let isRedirectAlone = message.content.isEmpty && 300...399 ~= status && message.fields.contains(.location)
        if let cutOff, !isRedirectAlone { throw cutOff }
        let body = isRedirectAlone ? Data() : try message.body(limit: limit)
        return (exchange(request, message.fields, status: status, body: body), message.content)
    }

    /// Makes an exchange; without a request record, the request counts as a GET without fields.
    func exchange(
        _ request: Request?,
        _ fields: HTTPFields,
        status: Int,
        body: Data
    ) -> ArchivedExchange {
        ArchivedExchange(
            method: request?.method ?? "GET",
            url: url,
            requestFields: request?.fields ?? HTTPFields(),
            status: status,
            fields: fields,
            body: body,
            requestTime: date,
            responseTime: date
        )
    }

    /// Makes an exchange from a file without an HTTP head: the record's own fields give its media type.
    private func resource(_ block: Data) -> ArchivedExchange {
        ArchivedExchange(
            method: "GET",
            url: url,
            requestFields: HTTPFields(),
            status: 200,
            fields: HTTPFields(recorded: self["Content-Type"].map { [("Content-Type", $0)] } ?? []),
            body: block,
            requestTime: date,
            responseTime: date
        )
    }
}
