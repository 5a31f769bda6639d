import Foundation
import WaystationRecording

/// An entry of a recording, as it is compared and replayed.
struct RecordedEntry {
    var entry: HARArchive.Entry
    /// The values of the parts that are compared.
    let key: [String]
    var isUsed = false
    /// Whether the next such request is recorded again.
    var isStale = false
    /// Whether the entry was recorded in this run, and the file does not have it.
    var isNew = false

    init(_ entry: HARArchive.Entry, parts: [RecordedPart], redaction: Redaction) {
        self.entry = entry
        let request = redaction.request(entry.request)
        key = parts.map { $0.value(request) }
    }

    /// The method and the URL.
    var name: String { "\(entry.request.method) \(entry.request.url)" }

    /// The response, as events of an exchange.
    ///
    /// - Parameter folder: The folder of the recording.
    /// - Returns: The events.
    /// - Throws: `ImportRefusal` with the reason why the body cannot be had.
    func answer(in folder: URL) throws(ImportRefusal) -> ScriptedTransport.Answer {
        let response = entry.response
        var body = try response.body(in: folder)
        // A HAR has bodies without codings, even if the fields name one.
        let coding: Set = ["content-encoding", "transfer-encoding", "content-length"]
        var fields: [String: String] = [:]
        var length: String?
        for field in response.headers where !field.name.hasPrefix(":") {
            if field.name.lowercased() == "content-length" { length = field.value }
            guard !coding.contains(field.name.lowercased()) else { continue }
            let known = fields.keys.first { $0.caseInsensitiveCompare(field.name) == .orderedSame }
            fields[known ?? field.name] = known.flatMap { fields[$0] }.map { "\($0), \(field.value)" } ?? field.value
        }
        // RFC 9110 §9.3.2: a response to HEAD has no content, but the length that GET would have.
        if entry.request.method == "HEAD" {
            body = Data()
            fields["Content-Length"] = length
        } else if length != nil || !body.isEmpty {
            fields["Content-Length"] = "\(body.count)"
        }
        return .status(response.status, fields: fields, body: body)
    }
}

extension Redaction {
    /// A request of a recording that another program may have made, without secrets.
    fileprivate func request(_ recorded: HARArchive.Request) -> HARArchive.Request {
        var request = recorded
        request.url = url(String(recorded.url.prefix { $0 != "#" }))
        request.headers = recorded.headers.map { HARArchive.Pair($0.name, value($0.value, ofField: $0.name)) }
        if let body = recorded.postData, body.encoding == nil {
            request.postData?.text = String(
                decoding: self.body(Data(body.text.utf8), type: body.mimeType),
                as: UTF8.self
            )
        }
        return request
    }
}
