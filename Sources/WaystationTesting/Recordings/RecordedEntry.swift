import HTTPTypes
import Waystation
import WaystationFoundation
import WaystationHTTP
import WaystationRecording

/// An entry of a recording, as it is compared and replayed.
struct RecordedEntry {
    var entry: HARArchive.Entry
    /// The values of the parts that are compared.
    let key: [ExactText]
    var isUsed = false
    /// Whether the next such request is recorded again.
    var isStale = false
    /// Whether the entry was recorded in this run, and the file does not have it.
    var isNew = false

    init(_ entry: HARArchive.Entry, _ comparison: RequestComparison) {
        self.entry = entry
        key = comparison.key(of: entry.request)
    }

    /// The method and the URL, without the secrets that another program may have recorded.
    var name: String { "\(entry.request.method) \(SecretNames.standard.url(entry.request.url))" }

    /// Makes the response, for a load that needs no exchange.
    ///
    /// It is nil if the entry has no response, if its body is a file, or if its age matters, which is that of the moment
    /// in which it is used.
    func makeResident(now: Date) -> ResidentResponse? {
        let response = entry.response
        guard response.content.file == nil, hasResponse, !hasLifetime, let url = URL(string: entry.request.url),
            let (fields, body) = try? content(in: nil, now: now)
        else { return nil }
        let head = ResponseHead(url: url, statusCode: response.status, fields: fields)
        return ResidentResponse(head, body, isMade: true)
    }

    /// The response, as events of an exchange; an error if the recorded load had none.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - folder: The folder of the recording.
    ///   - now: The time at which the response arrives.
    /// - Returns: The events.
    /// - Throws: `ImportRefusal` with the reason why the body cannot be had.
    func answer(_ url: URL?, in folder: URL, now: Date) throws(ImportRefusal) -> ScriptedTransport.Answer {
        guard hasResponse else { return ScriptedTransport.Answer([.error(recordedError(url))]) }
        let (fields, body) = try content(in: folder, now: now)
        return .status(entry.response.status, fields: fields, body: body)
    }

    /// Whether the load got a response: a HAR of a browser has the status 0 or -1 for one that failed.
    private var hasResponse: Bool { (100...999).contains(entry.response.status) }

    private var hasLifetime: Bool {
        entry.response.headers.contains { field in
            let name = field.name.lowercased()
            return name == "expires" || (name == "cache-control" && field.value.lowercased().contains("max-age"))
        }
    }

    /// The error of a load that failed when it was recorded.
    private func recordedError(_ url: URL?) -> URLError {
        let reason = entry.response.error ?? entry.comment ?? "the recording has no response"
        let own = entry.comment.flatMap { $0.hasPrefix(Self.failure) ? Int($0.dropFirst(Self.failure.count)) : nil }
        let code = own.map(URLError.Code.init(rawValue:)) ?? Self.codes.first { reason.contains($0.name) }?.code
        return URLError(
            code ?? .networkConnectionLost,
            failing: url,
            "the load had failed when it was recorded, so it fails again: \(reason.prefix(200))"
        )
    }

    /// How `HARRecorder` notes the code of an error.
    private static let failure = "failed: URLError "

    /// Names of Chromium's errors, with the codes that Foundation reports in the same situation.
    private static let codes: [(name: String, code: URLError.Code)] = [
        ("ERR_NAME_NOT_RESOLVED", .cannotFindHost), ("ERR_INTERNET_DISCONNECTED", .notConnectedToInternet),
        ("ERR_CONNECTION_REFUSED", .cannotConnectToHost), ("ERR_ADDRESS_UNREACHABLE", .cannotConnectToHost),
        ("TIMED_OUT", .timedOut), ("ERR_CERT_", .serverCertificateUntrusted), ("ERR_SSL_", .secureConnectionFailed),
        ("ERR_TOO_MANY_REDIRECTS", .httpTooManyRedirects),
    ]

    private func content(
        in folder: URL?,
        now: Date
    ) throws(ImportRefusal) -> (fields: [String: String], body: Data) {
        let message = try entry.response.message(in: folder)
        var body = message.body
        // A HAR has bodies without codings, even if the fields name one.
        var fields = HTTPFields(message.fields.filter { !Self.coding.contains($0.name) }).dictionary
        for name in fields.keys where Self.times.contains(where: name.equalsIgnoringCase) {
            fields[name] = fields[name].map { moved($0, to: now) }
        }
        // RFC 9110 §9.3.2: a response to HEAD has no content, but the length that GET would have.
        let length = message.fields[.contentLength]
        if entry.request.method == "HEAD" {
            body = Data()
            fields["Content-Length"] = length
        } else if length != nil || !body.isEmpty {
            fields["Content-Length"] = "\(body.count)"
        }
        return (fields, body)
    }

    /// A time of the response, moved by the age of the recording: to a cache the response is as old as it was when it
    /// was recorded.
    private func moved(_ value: String, to now: Date) -> String {
        let present = HTTPDate(nearestTo: now.timeIntervalSince1970)
        guard let time = HTTPDate(value, now: present), let started = entry.started else { return value }
        let received = started.addingTimeInterval(min(86_400, max(0, entry.time.isFinite ? entry.time : 0) / 1_000))
        let age = HTTPDate(nearestTo: received.timeIntervalSince1970)
        let (moved, isHuge) = time.secondsSinceEpoch.addingReportingOverflow(
            present.secondsSinceEpoch - age.secondsSinceEpoch
        )
        return isHuge || moved == time.secondsSinceEpoch ? value : HTTPDate(nearestTo: moved).fieldValue
    }

    private static let times = ["date", "expires"]

    private static let coding: Set<HTTPField.Name> = [.contentEncoding, .transferEncoding, .contentLength]
}

/// A part of a request that a recorded request must have in common with it.
///
/// Secrets are compared as they are recorded: `?token=a` and `?token=b` are equal, because both are left out.
public struct RecordedPart: Sendable {
    let name: String
    let value: @Sendable (ComparedRequest) -> String

    /// The method.
    public static let method = RecordedPart(name: "method") { $0.method }
    /// The whole URL, in canonical form.
    public static let url = RecordedPart(name: "URL") { canonical($0.url) }
    /// The URL without these items of its query, such as a time or a random number.
    public static func url(without items: Set<String>) -> RecordedPart {
        RecordedPart(name: "URL") { request in
            guard var parts = URLComponents(string: canonical(request.url)) else { return request.url }
            let kept = parts.percentEncodedQueryItems?.filter {
                !items.contains($0.name.removingPercentEncoding ?? $0.name)
            }
            parts.percentEncodedQueryItems = kept?.isEmpty ?? true ? nil : kept
            return parts.string ?? request.url
        }
    }
    /// The path and the query of the URL, on any host.
    public static let path = RecordedPart(name: "path") { request in
        let parts = URLComponents(string: canonical(request.url))
        return (parts?.percentEncodedPath ?? "") + (parts?.percentEncodedQuery.map { "?" + $0 } ?? "")
    }
    /// The values of a header field.
    public static func field(_ name: String) -> RecordedPart {
        RecordedPart(name: "field \(name)") { $0.values(name) }
    }
    /// The body; JSON is compared as JSON, so the order of members does not matter, nor how a number is written.
    ///
    /// Numbers and texts are compared exactly, to the last digit and code point.
    public static let body = RecordedPart(name: "body") { request in
        guard let body = request.body() else { return "" }
        return JSONText.canonical(body) ?? body
    }

    private static func canonical(_ url: String) -> String { CanonicalURL(url)?.string ?? url }
}
