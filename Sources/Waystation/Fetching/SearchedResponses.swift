import Foundation
import HTTPTypes
package import WaystationHTTP
package import WaystationStorage

/// The stored responses that answer requests with other queries than their own, because of `No-Vary-Search`
/// (draft-ietf-httpbis-no-vary-search §6).
///
/// Such a response is stored under a key in which its rule and the rest of its query take the place of the query. To look
/// it up, one must know the rule: so the path has a key of its own, whose rows state the rules of its responses. If no
/// response of a path has the field, that key is absent, which is known without a look-up.
extension CacheAccess {
    /// The responses that may answer a request with a key; nil if the disk must be read to find out.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - mayRead: Whether the index may be read on this thread.
    /// - Returns: The responses.
    func searchedInMemory(_ key: RequestKey, mayRead: Bool) -> [StoredResponse]? {
        let rules = key.ofSearchRules
        if store.lacks(rules) { return [] }
        guard let stated = inMemory(rules, mayRead) else { return nil }
        var found: [StoredResponse] = []
        for rule in Self.rules(stated) {
            guard let responses = inMemory(key.searched(by: rule), mayRead) else { return nil }
            found += answering(responses, by: rule)
        }
        return found
    }

    private func inMemory(_ key: RequestKey, _ mayRead: Bool) -> [StoredResponse]? {
        store.resident(key) ?? store.lookUpInMemory(key, mayRead: mayRead)
    }

    /// Finds the responses that may answer a request with a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - mayAnswer: Whether the body of a response is likely to be read.
    ///   - completion: Called once with the responses, on any thread.
    func searched(
        _ key: RequestKey,
        opening mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        let rules = key.ofSearchRules
        guard !store.lacks(rules) else { return completion([]) }
        store.lookup(rules) { self.collect(Self.rules($0)[...], key, mayAnswer, [], completion) }
    }

    /// Finds all usable responses that may answer a request with a key, whatever their queries are, newest first.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - mayAnswer: Whether the body of a response is likely to be read.
    ///   - completion: Called once with the responses, on any thread.
    func lookUp(
        _ key: RequestKey,
        opening mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        store.lookup(key, opening: mayAnswer) { responses in
            self.searched(key, opening: mayAnswer) { others in
                let responses = self.usable(responses)
                completion(others.isEmpty ? responses : (responses + others).newestFirst)
            }
        }
    }

    /// Looks up the responses of one rule after another.
    private func collect(
        _ rules: ArraySlice<NoVarySearch>,
        _ key: RequestKey,
        _ mayAnswer: @escaping @Sendable (StoredHead) -> Bool,
        _ found: [StoredResponse],
        _ completion: @escaping @Sendable ([StoredResponse]) -> Void
    ) {
        guard let rule = rules.first else { return completion(found) }
        store.lookup(key.searched(by: rule), opening: mayAnswer) { responses in
            let found = found + self.answering(responses, by: rule)
            self.collect(rules.dropFirst(), key, mayAnswer, found, completion)
        }
    }

    /// The usable responses whose own field is still the rule of their key: a validation may have changed it.
    private func answering(_ responses: [StoredResponse], by rule: NoVarySearch) -> [StoredResponse] {
        usable(responses).filter { NoVarySearch($0.head.headerFields) == rule }
    }

    /// The number of rules of a path that a look-up tries, the newest ones first.
    ///
    /// Servers should not send different ones for a path (§6 of the draft).
    private static let greatestCount = 4

    private static func rules(_ stated: [StoredResponse]) -> [NoVarySearch] {
        Array(stated.lazy.compactMap { NoVarySearch($0.head.headerFields) }.prefix(greatestCount))
    }
}

extension ResponseStore {
    /// How long a rule that memory has is not stated again, in seconds.
    ///
    /// A rule that is old goes with the old responses.
    private static let statementInterval = 3_600.0

    /// Stores the rule of a response with `No-Vary-Search`, so that look-ups with other queries find the response.
    ///
    /// - Parameters:
    ///   - head: The response.
    ///   - key: The key of its request.
    ///   - moment: When its request was sent; nil for now.
    package func stateRule(of head: StoredHead, under key: RequestKey, asOf moment: StoreMoment? = nil) {
        guard let rule = NoVarySearch(head.headerFields), let name = HTTPField.Name(NoVarySearch.field) else { return }
        let key = key.ofSearchRules
        // Each rule of a path has a row of its own, as each variant of a response has.
        let vary = VaryKey([VaryKey.Nominee(name: name, value: rule.text)])
        let isStated = resident(key)?.contains {
            $0.head.vary == vary
                && abs(head.responseTime.timeIntervalSince($0.head.responseTime)) < Self.statementInterval
        }
        guard isStated != true else { return }
        let row = StoredHead(
            key: key,
            status: 204,
            headerFields: HTTPFields(head.headerFields.filter { $0.name.canonicalName == NoVarySearch.field }),
            vary: vary,
            requestTime: head.requestTime,
            responseTime: head.responseTime,
            contentLength: 0
        )
        begin(row, asOf: moment)?.commit { _ in }
    }
}

extension [StoredResponse] {
    /// The responses in the order in which look-ups return them.
    var newestFirst: [StoredResponse] {
        sorted { ($0.head.responseTime, $0.id) > ($1.head.responseTime, $1.id) }
    }
}
