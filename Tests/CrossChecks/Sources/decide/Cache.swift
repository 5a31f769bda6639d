import Foundation
import HTTPTypes
import WaystationHTTP

/// A private cache in memory, which stores for each body only the number of the step that brought it.
struct Cache {
    private struct Stored {
        var head: StoredHead
        var body: Int
    }

    private var stored: [String: [Stored]] = [:]

    /// Answers a request with a stored response or with the origin's response in the step.
    mutating func take(_ step: Conversation.Step, number: Int) throws -> Report {
        let request = try step.request.message()
        let url = step.request.url
        switch ReuseDecision(for: request, among: heads(of: url), now: step.sentDate) {
        case .fresh(let selection):
            return report("hit", selection, url)
        case .stale(let selection, _, _):
            return report("stale", selection, url)
        case .gatewayTimeout:
            return Report(verdict: "timeout")
        case .forward:
            return try forward(request, step, number)
        case .revalidate(let revalidation):
            guard revalidation.request.conditions != request.conditions else {
                return try validate(revalidation, try step.response.message(), step, number, verdict: "forward")
            }
            let response = try (step.notModified ?? step.response).message()
            return try validate(revalidation, response, step, number, verdict: "validate")
        }
    }

    private mutating func forward(
        _ request: HTTPRequest,
        _ step: Conversation.Step,
        _ number: Int,
        verdict: String = "forward"
    ) throws -> Report {
        let url = step.request.url
        let response = try step.response.message()
        for url in Invalidation(after: request, response: response).urls { stored[url] = nil }
        if request.method == .head {
            let changes = StoredChange.changes(
                byHead: response,
                to: request,
                stored: heads(of: url),
                requestTime: step.sentDate,
                responseTime: step.receivedDate
            )
            apply(changes, to: url)
        }
        let decision = StoringDecision(
            of: response,
            to: request,
            requestTime: step.sentDate,
            responseTime: step.receivedDate
        )
        return Report(verdict: verdict, outcome: keep(decision, url, number))
    }

    private mutating func validate(
        _ revalidation: Revalidation,
        _ response: HTTPResponse,
        _ step: Conversation.Step,
        _ number: Int,
        verdict: String
    ) throws -> Report {
        let url = step.request.url
        let outcome = ValidationOutcome(
            of: response,
            to: revalidation,
            requestTime: step.sentDate,
            responseTime: step.receivedDate
        )
        switch outcome {
        case .freshened(let selection, let changes):
            var report = report(verdict, selection, url)
            report.outcome = "freshened"
            apply(changes, to: url)
            return report
        case .replaced(let decision, let outdated):
            for index in outdated.sorted(by: >) { stored[url]?.remove(at: index) }
            return Report(verdict: verdict, outcome: keep(decision, url, number))
        case .standIn(let selection):
            var report = report(verdict, selection, url)
            report.outcome = "standIn"
            return report
        case .passOn(let changes):
            apply(changes, to: url)
            return Report(verdict: verdict, outcome: "refused")
        case .reload(let request):
            return try forward(request, step, number, verdict: verdict)
        }
    }

    private func heads(of url: String) -> [StoredHead] { (stored[url] ?? []).map(\.head) }

    private func report(_ verdict: String, _ selection: StoredSelection, _ url: String) -> Report {
        let answer =
            switch selection.answer {
            case .whole: "whole"
            case .head: "head"
            case .part: "part"
            case .notModified: "notModified"
            case .rangeNotSatisfiable: "rangeNotSatisfiable"
            }
        return Report(verdict: verdict, answer: answer, body: stored[url]?[selection.index].body)
    }

    private mutating func keep(_ decision: StoringDecision, _ url: String, _ number: Int) -> String {
        guard case .store(let head) = decision else { return "refused" }
        stored[url, default: []].removeAll { $0.head.vary == head.vary }
        stored[url, default: []].append(Stored(head: head, body: number))
        return "stored"
    }

    private mutating func apply(_ changes: [StoredChange], to url: String) {
        for change in changes {
            switch change {
            case .update(let index, let head): stored[url]?[index].head = head
            case .add(let index, let head):
                guard let body = stored[url]?[index].body else { continue }
                stored[url, default: []].append(Stored(head: head, body: body))
            }
        }
    }
}

extension HTTPRequest {
    /// The request's conditions, for a stored response.
    fileprivate var conditions: [String?] { [headerFields[.ifNoneMatch], headerFields[.ifModifiedSince]] }
}
