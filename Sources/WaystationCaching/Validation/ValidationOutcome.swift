public import Foundation
public import HTTPTypes
import WaystationFields

/// What the answer to a ``Revalidation`` comes to, and the next step (RFC 9111 §4.3.3).
public enum ValidationOutcome: Sendable {
    /// 304: answer with the selection, and make the changes (§4.3.4). The 304's own content is empty; still end it.
    case freshened(StoredSelection, changes: [StoredChange])
    /// A response of its own: answer with it, store it or not, and remove the stored exchanges at these places, which
    /// it shows to be outdated.
    case replaced(StoringDecision, outdated: [Int])
    /// A server error, for which a stored response stands in: answer with the selection, and store nothing.
    case standIn(StoredSelection)
    /// Answer with the response, store nothing of it, and make the changes.
    case passOn(changes: [StoredChange])
    /// A 304 that fits nothing stored: forget it and send this request, which has no conditions of ours (§4.3.4).
    case reload(HTTPRequest)

    /// Decides.
    ///
    /// - Parameters:
    ///   - response: Status and fields as received.
    ///   - revalidation: What was sent.
    ///   - requestTime: When it was sent.
    ///   - responseTime: When the head of the response was received.
    public init(
        of response: HTTPResponse,
        to revalidation: Revalidation,
        requestTime: Date,
        responseTime: Date
    ) {
        let code = response.status.code
        switch code {
        case 304 where revalidation.isConditional:
            self = .notModified(response, revalidation, requestTime, responseTime)
        case ..<200, 206, 304, 412, 416:
            self = .passOn(changes: [])
        case 500...:
            // An error never replaces what was good.
            if let selection = revalidation.standIn(for: .status(code), now: responseTime) {
                self = .standIn(selection)
            } else {
                self = .passOn(changes: [])
            }
        case _ where revalidation.original.method == .head:
            let changes = StoredChange.changes(
                byHead: response,
                to: revalidation.original,
                stored: revalidation.stored,
                requestTime: requestTime,
                responseTime: responseTime
            )
            self = .passOn(changes: changes)
        default:
            let decision = StoringDecision(
                of: response,
                to: revalidation.original,
                requestTime: requestTime,
                responseTime: responseTime,
                rules: revalidation.rules
            )
            self = .replaced(decision, outdated: revalidation.outdated(by: code))
        }
    }

    private static func notModified(
        _ response: HTTPResponse,
        _ revalidation: Revalidation,
        _ requestTime: Date,
        _ responseTime: Date
    ) -> ValidationOutcome {
        let identified = revalidation.identified(by: response)
        guard let chosen = identified.first(where: { $0 == revalidation.selected }) ?? identified.first else {
            if let confirmed = revalidation.confirmed(by: response) {
                let exchange = revalidation.stored[confirmed]
                return .freshened(revalidation.selection(of: exchange, at: confirmed, now: responseTime), changes: [])
            }
            return revalidation.isAnswerToClient(response) ? .passOn(changes: []) : .reload(revalidation.original)
        }
        var changes: [StoredChange] = []
        var answering = revalidation.stored[chosen]
        // One variant is enough where the request had none.
        for index in revalidation.isVaryMiss ? [chosen] : identified {
            var updated = revalidation.stored[index].updated(
                from: response,
                request: revalidation.original,
                requestTime: requestTime,
                responseTime: responseTime
            )
            if revalidation.isVaryMiss {
                updated = updated.adopted(by: revalidation.original)
                changes.append(.add(contentOf: index, updated))
            } else {
                changes.append(.update(index: index, updated))
            }
            if index == chosen { answering = updated }
        }
        let listed = answering.cacheControl.noCache.fieldNames
        let unstored = HTTPFields(response.headerFields.filter { listed.contains($0.name) })
        let selection = revalidation.selection(of: answering, at: chosen, unstored, now: responseTime)
        return .freshened(selection, changes: changes)
    }
}

extension Revalidation {
    /// The places of the stored responses that a 304 identifies (§4.3.4), the most recent first.
    ///
    /// The initial set are those that could have been chosen for the request; where there are none, those whose tags
    /// were sent (§4.1: what does not match may be used once it is validated).
    fileprivate func identified(by response: HTTPResponse) -> [Int] {
        let initial = stored.indices
            .filter {
                isVaryMiss ? stored[$0].mayBeAdopted : stored[$0].mayBeValidated && stored[$0].mayAnswer(original)
            }
            .sorted { stored[$0].precedes(stored[$1]) }
        let facts = ResponseFacts(response, url: "", requestTime: 0, responseTime: 0)
        if let tag = facts.entityTag {
            if !tag.isWeak {
                return initial.filter { stored[$0].facts.entityTag?.stronglyMatches(tag) ?? false }
            }
            return Array(initial.filter { stored[$0].facts.entityTag?.weaklyMatches(tag) ?? false }.prefix(1))
        }
        if let modified = facts.lastModified {
            if let match = initial.first(where: { stored[$0].facts.lastModified == modified }), !isVaryMiss {
                return [match]
            }
            return []
        }
        if let selected = confirmed(by: response), rules.trustsBareNotModified { return [selected] }
        if initial.count == 1, let only = initial.first, !stored[only].hasValidator { return [only] }
        return []
    }

    /// The place of the one stored response that was asked about, unless the 304 names another.
    ///
    /// A 304 whose strong tag equals a weak one of ours (as when a server weakens the tags of compressed content, and
    /// has nothing to compress in a 304) must not update what is stored (§4.3.4), but it does say that it is current.
    fileprivate func confirmed(by response: HTTPResponse) -> Int? {
        guard let selected, validatorCount == 1, !hasClientCondition else { return nil }
        guard let tag = response.headerFields.firstValue(.eTag).flatMap({ EntityTag($0) }) else {
            let modified = response.headerFields.firstValue(.lastModified)
            return modified == nil || modified == stored[selected].facts.lastModifiedText ? selected : nil
        }
        return stored[selected].facts.entityTag.map { $0.weaklyMatches(tag) } ?? false ? selected : nil
    }

    fileprivate func selection(
        of exchange: StoredExchange,
        at index: Int,
        _ unstoredFields: HTTPFields = [:],
        now: Date
    ) -> StoredSelection {
        StoredSelection(
            index: index,
            exchange,
            exchange.freshness(now: now, rules: rules),
            answer: StoredAnswer(of: exchange, for: original),
            isValidated: true,
            unstoredFields: unstoredFields
        )
    }

    private var hasClientCondition: Bool {
        original.headerFields.contains(.ifNoneMatch) || original.headerFields.contains(.ifModifiedSince)
    }

    /// Whether a 304 that fits nothing stored fits what the client itself asked.
    fileprivate func isAnswerToClient(_ response: HTTPResponse) -> Bool {
        guard let value = original.headerFields[.ifNoneMatch] else {
            return original.headerFields.contains(.ifModifiedSince) && !request.headerFields.contains(.ifNoneMatch)
                && request.headerFields[.ifModifiedSince] == original.headerFields[.ifModifiedSince]
        }
        guard case .tags(let tags) = EntityTagList(value) else { return false }
        guard let tag = response.headerFields.firstValue(.eTag).flatMap({ EntityTag($0) }) else { return false }
        return tags.contains { $0.weaklyMatches(tag) }
    }

    /// The places of the stored responses that a full response of this status shows to be outdated.
    ///
    /// A refusal such as 401 or 429 says nothing about them.
    fileprivate func outdated(by code: Int) -> [Int] {
        guard (200..<400).contains(code) || code == 404 || code == 410 else { return [] }
        return stored.indices.filter { stored[$0].mayAnswer(original) }
    }
}
