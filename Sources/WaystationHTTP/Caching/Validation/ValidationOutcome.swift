public import Foundation
public import HTTPTypes

/// The meaning of the response to a ``Revalidation``, and the next step (RFC 9111 §4.3.3).
public enum ValidationOutcome: Sendable {
    /// 304: answer with the selection, and make the changes (§4.3.4). The 304 has no content, but still read it to its
    /// end.
    ///
    /// If the 304 does not allow the response to be stored any longer, the change marks the stored response as one that
    /// needs validation. If the request has `no-store`, no field of the 304 is among the changes.
    case freshened(StoredSelection, changes: [StoredChange])
    /// A full response: answer with it, store it if the decision allows that, and remove the stored responses at these
    /// indices, which it shows to be outdated.
    case replaced(StoringDecision, outdated: [Int])
    /// A server error, for which a stored response is used instead: answer with the selection, and store nothing.
    case standIn(StoredSelection)
    /// Answer with the response, do not store it, and make the changes.
    case passOn(changes: [StoredChange])
    /// A 304 that matches no stored response: ignore it and send this request, which has no conditions of the cache
    /// (§4.3.4).
    case reload(HTTPRequest)

    /// Decides how to continue after a revalidation.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields as received.
    ///   - revalidation: The revalidation whose request was sent.
    ///   - requestTime: When the request was sent.
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
        case ..<200, 304, 412, 416:
            self = .passOn(changes: [])
        case 500...:
            // An error never replaces a good response.
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
                responseTime: responseTime,
                rules: revalidation.rules
            )
            self = .passOn(changes: changes)
        default:
            let replacement = Replacement(
                by: code,
                Validators(response.headerFields),
                to: revalidation.original,
                among: revalidation.stored
            )
            // A refusal such as 403 does not replace a good response, just as an error 5xx does not.
            guard replacement.mayBeStored else {
                self = .passOn(changes: [])
                return
            }
            let decision = StoringDecision(
                of: response,
                to: revalidation.original,
                requestTime: requestTime,
                responseTime: responseTime,
                rules: revalidation.rules
            )
            self = .replaced(decision, outdated: replacement.outdated)
        }
    }

    private static func notModified(
        _ response: HTTPResponse,
        _ revalidation: Revalidation,
        _ requestTime: Date,
        _ responseTime: Date
    ) -> ValidationOutcome {
        let identified = revalidation.identified(by: response, now: responseTime)
        guard let chosen = identified.first(where: { $0 == revalidation.selected }) ?? identified.first else {
            if let confirmed = revalidation.confirmed(by: response) {
                let head = revalidation.stored[confirmed]
                return .freshened(revalidation.selection(of: head, at: confirmed, now: responseTime), changes: [])
            }
            return revalidation.isAnswerToClient(response) ? .passOn(changes: []) : .reload(revalidation.original)
        }
        var changes: [StoredChange] = []
        var answering = revalidation.stored[chosen]
        // §5.2.1.5: no part of the 304 is stored, which answers this one request all the same.
        let forbidsStoring = RequestCacheControl(revalidation.original.headerFields).noStore
        // If no stored response matched the request, one variant is enough.
        for index in revalidation.isVaryMiss ? [chosen] : identified {
            var updated = revalidation.stored[index].updated(
                from: response,
                request: revalidation.original,
                requestTime: requestTime,
                responseTime: responseTime
            )
            let mayStayStored = updated.mayStayStored(after: response, revalidation.rules)
            if revalidation.isVaryMiss {
                updated = updated.adopted(by: revalidation.original)
                if mayStayStored, !forbidsStoring { changes.append(.add(contentOf: index, updated)) }
            } else if !mayStayStored {
                changes.append(.update(index: index, revalidation.stored[index].outdated))
            } else if !forbidsStoring {
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
    /// The indices of the stored responses that a 304 identifies (§4.3.4), the most recent first.
    ///
    /// The initial set consists of the responses that could have been selected for the request; if there are none, of
    /// those whose tags were sent (§4.1: a response that does not match may be used once it is validated).
    fileprivate func identified(by response: HTTPResponse, now: Date) -> [Int] {
        let initial = stored.indices
            .filter {
                isVaryMiss
                    ? stored[$0].mayBeAdopted
                    : stored[$0].mayBeValidated && ($0 == selected || stored[$0].mayAnswer(original))
            }
            .sorted { stored[$0].precedes(stored[$1]) }
        if let tag = tag(of: response) {
            if !tag.isWeak {
                return initial.filter { stored[$0].facts.entityTag?.stronglyMatches(tag) ?? false }
            }
            return Array(initial.filter { stored[$0].facts.entityTag?.weaklyMatches(tag) ?? false }.prefix(1))
        }
        let present = HTTPDate(nearestTo: now.timeIntervalSince1970)
        if let text = response.headerFields.firstValue(.lastModified),
            let modified = HTTPDate(cached: text, now: present)
        {
            if let match = initial.first(where: { stored[$0].facts.lastModified == modified }), !isVaryMiss {
                return [match]
            }
            return []
        }
        if let selected = confirmed(by: response), rules.trustsBareNotModified { return [selected] }
        if initial.count == 1, let only = initial.first, !stored[only].hasValidator { return [only] }
        return []
    }

    /// The tag of a 304; a tag that breaks the grammar counts only if a stored response has it.
    private func tag(of response: HTTPResponse) -> EntityTag? {
        guard let tag = response.headerFields.firstValue(.eTag).flatMap({ EntityTag(asItCame: $0) }) else { return nil }
        return tag.isValid || stored.contains { $0.facts.entityTag?.weaklyMatches(tag) ?? false } ? tag : nil
    }

    /// The index of the one stored response that the request asked about, unless the 304 names another response.
    ///
    /// A 304 whose strong tag equals the weak tag of the stored response must not update it (§4.3.4), but it does
    /// confirm that it is current. A strong tag for a weak stored one comes when a server weakens the tags of compressed
    /// content but has no content to compress in a 304.
    fileprivate func confirmed(by response: HTTPResponse) -> Int? {
        guard let selected, validatorCount == 1, !hasClientCondition else { return nil }
        guard let tag = tag(of: response) else {
            let modified = response.headerFields.firstValue(.lastModified)
            return modified == nil || modified == stored[selected].facts.lastModifiedText ? selected : nil
        }
        return stored[selected].facts.entityTag.map { $0.weaklyMatches(tag) } ?? false ? selected : nil
    }

    fileprivate func selection(
        of head: StoredHead,
        at index: Int,
        _ unstoredFields: HTTPFields = [:],
        now: Date
    ) -> StoredSelection {
        StoredSelection(
            index: index,
            head,
            head.freshness(now: now, rules: rules),
            answer: StoredAnswer(of: head, for: original),
            isValidated: true,
            unstoredFields: unstoredFields
        )
    }

    private var hasClientCondition: Bool {
        original.headerFields.contains(.ifNoneMatch) || original.headerFields.contains(.ifModifiedSince)
    }

    /// Whether a 304 that matches no stored response answers the client's own condition.
    fileprivate func isAnswerToClient(_ response: HTTPResponse) -> Bool {
        guard let value = original.headerFields[.ifNoneMatch] else {
            return original.headerFields.contains(.ifModifiedSince) && !request.headerFields.contains(.ifNoneMatch)
                && request.headerFields[.ifModifiedSince] == original.headerFields[.ifModifiedSince]
        }
        guard case .tags(let tags) = EntityTagList(asItCame: value) else { return false }
        guard let tag = response.headerFields.firstValue(.eTag).flatMap({ EntityTag(asItCame: $0) }) else {
            return false
        }
        return tags.contains { $0.weaklyMatches(tag) }
    }
}
