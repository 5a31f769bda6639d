import Foundation
import HTTPTypes
import Testing

@testable import WaystationHTTP

/// The moment that is so many seconds after ``epoch``, from which the tables count.
func moment(_ seconds: Double) -> Date { epoch + seconds }

/// Makes fields from lines `Name: value`; `{n}` becomes the HTTP-date of n seconds after ``epoch``.
func fields(_ text: String) -> HTTPFields {
    var fields = HTTPFields()
    for line in text.split(separator: "\n") where !line.allSatisfy(\.isWhitespace) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = HTTPField.Name(parts[0].trimmingCharacters(in: .whitespaces)) else {
            Issue.record("not a field: \(line)")
            continue
        }
        fields.append(HTTPField(name: name, value: withDates(parts[1].trimmingCharacters(in: .whitespaces))))
    }
    return fields
}

private func withDates(_ value: String) -> String {
    guard let open = value.firstIndex(of: "{"), let close = value.firstIndex(of: "}"),
        let seconds = Int(value[value.index(after: open)..<close])
    else { return value }
    return value[..<open] + HTTPDate(nearestTo: Int(epoch.timeIntervalSince1970) + seconds).fieldValue
        + value[value.index(after: close)...]
}

func request(
    _ lines: String = "",
    method: HTTPRequest.Method = .get,
    url: String = "https://example.com/a"
) -> HTTPRequest {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    return HTTPRequest(
        method: method,
        scheme: String(parts[0].dropLast()),
        authority: parts[2],
        path: "/" + (parts.count > 3 ? parts[3] : ""),
        headerFields: fields(lines)
    )
}

func response(_ lines: String = "", status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: .init(code: status), headerFields: fields(lines))
}

/// A stored response that was received at second 0 without delay.
func stored(
    _ lines: String,
    status: Int = 200,
    for requestLines: String = "",
    url: String = "https://example.com/a",
    at received: Double = 0,
    length: Int? = 100
) -> StoredHead {
    let headerFields = fields(lines)
    return StoredHead(
        key: RequestKey(method: "GET", url: url),
        status: status,
        headerFields: headerFields,
        vary: VaryKey(headerFields, request: fields(requestLines)),
        requestTime: moment(received),
        responseTime: moment(received),
        contentLength: length
    )
}

extension ReuseDecision {
    /// The decision in a word.
    var summary: String {
        switch self {
        case .fresh: "fresh"
        case .stale(_, .staleWhileRevalidate, let revalidation): revalidation == nil ? "swr" : "swr+renew"
        case .stale(_, .maxStale, let revalidation): revalidation == nil ? "max-stale" : "max-stale+renew"
        case .revalidate(let revalidation):
            "\(revalidation.isConditional ? "ask" : "load") \(revalidation.reason.rawValue)"
        case .forward(let reason): "forward \(reason.rawValue)"
        case .gatewayTimeout: "504"
        }
    }

    var selection: StoredSelection? {
        switch self {
        case .fresh(let selection), .stale(let selection, _, _): selection
        default: nil
        }
    }

    var revalidation: Revalidation? {
        switch self {
        case .revalidate(let revalidation), .stale(_, _, let revalidation?): revalidation
        default: nil
        }
    }
}

extension ValidationOutcome {
    /// The outcome in a word.
    var summary: String {
        switch self {
        case .freshened(let selection, let changes): "freshened \(selection.index) \(changes.map(\.summary))"
        case .replaced(.store, let outdated): "stored \(outdated)"
        case .replaced(.refuse(let refusal), let outdated): "\(refusal) \(outdated)"
        case .standIn(let selection): "stand-in \(selection.index)"
        case .passOn(let changes): changes.isEmpty ? "pass on" : "pass on \(changes.map(\.summary))"
        case .reload: "reload"
        }
    }

    var selection: StoredSelection? {
        switch self {
        case .freshened(let selection, _), .standIn(let selection): selection
        default: nil
        }
    }

    var firstUpdate: StoredHead? {
        guard case .freshened(_, let changes) = self else { return nil }
        switch changes.first {
        case .update(_, let head), .add(_, let head): return head
        case nil: return nil
        }
    }
}

extension StoredChange {
    var summary: String {
        switch self {
        case .update(let index, let head): head.needsValidation ? "mark \(index)" : "update \(index)"
        case .add(let index, _): "add \(index)"
        }
    }
}

/// The request that validates the stored responses, long after all of them became stale.
func revalidation(
    of stored: [StoredHead],
    for request: HTTPRequest = request(),
    now: Double = 10_000,
    rules: CachingRules = .standard
) throws -> Revalidation {
    try #require(ReuseDecision(for: request, among: stored, now: moment(now), rules: rules).revalidation)
}

/// The outcome of an answer that arrives at second 10,000.
func outcome(
    _ answer: HTTPResponse,
    of stored: [StoredHead],
    for request: HTTPRequest = request(),
    rules: CachingRules = .standard
) throws -> ValidationOutcome {
    ValidationOutcome(
        of: answer,
        to: try revalidation(of: stored, for: request, rules: rules),
        requestTime: moment(10_000),
        responseTime: moment(10_000)
    )
}
