import Foundation
import Waystation
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

    init(_ entry: HARArchive.Entry, _ comparison: RequestComparison) {
        self.entry = entry
        key = comparison.key(of: entry.request)
    }

    /// The method and the URL.
    var name: String { "\(entry.request.method) \(entry.request.url)" }

    /// Makes the response, for a load that needs no exchange; nil if its body is a file.
    func makeResident() -> ResidentResponse? {
        let response = entry.response
        guard response.content.file == nil, (100...999).contains(response.status),
            let url = URL(string: entry.request.url), let (fields, body) = try? content(in: nil)
        else { return nil }
        let head = ResponseHead(url: url, statusCode: response.status, fields: fields)
        return ResidentResponse(head, body, isMade: true)
    }

    /// The response, as events of an exchange.
    ///
    /// - Parameter folder: The folder of the recording.
    /// - Returns: The events.
    /// - Throws: `ImportRefusal` with the reason why the body cannot be had.
    func answer(in folder: URL) throws(ImportRefusal) -> ScriptedTransport.Answer {
        let (fields, body) = try content(in: folder)
        return .status(entry.response.status, fields: fields, body: body)
    }

    private func content(in folder: URL?) throws(ImportRefusal) -> (fields: [String: String], body: Data) {
        var body = try entry.response.body(in: folder)
        var fields: [String: String] = [:]
        var names: [String: String] = [:]
        var length: String?
        for field in entry.response.headers where !field.name.hasPrefix(":") {
            let name = field.name.lowercased()
            if name == "content-length" { length = field.value }
            guard !Self.coding.contains(name) else { continue }
            if let known = names[name], let value = fields[known] {
                fields[known] = "\(value), \(field.value)"
            } else {
                names[name] = field.name
                fields[field.name] = field.value
            }
        }
        // RFC 9110 §9.3.2: a response to HEAD has no content, but the length that GET would have.
        if entry.request.method == "HEAD" {
            body = Data()
            fields["Content-Length"] = length
        } else if length != nil || !body.isEmpty {
            fields["Content-Length"] = "\(body.count)"
        }
        return (fields, body)
    }

    /// A HAR has bodies without codings, even if the fields name one.
    private static let coding: Set = ["content-encoding", "transfer-encoding", "content-length"]
}
