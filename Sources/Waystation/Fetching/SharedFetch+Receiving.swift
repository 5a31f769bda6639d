import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The handling of a full response's head: whether the response is stored, and which waiters get it.
extension SharedFetch {
    func decision(_ head: ResponseHead, _ times: Times) -> StoringDecision {
        // The load renews its refused token and asks again; only the server may answer that request.
        if head.statusCode == 401, LoginPartitions.contains(plan.presented.key.partition) {
            return .refuse(.notMarkedStorable)
        }
        return cache.decision(
            head,
            to: plan.presented.message,
            by: plan.strategy,
            tags: plan.tags,
            isPosted: plan.presented.key.method == "POST",
            requestTime: times.sent,
            responseTime: times.received
        )
    }

    /// Handles a full response: it is stored if allowed, and delivered to all waiters that may share it.
    func receive(_ head: ResponseHead, _ decision: StoringDecision, _ times: Times, outdated: [Int]) {
        if plan.strategy.checksDigests {
            check.withLock { $0 = DigestCheck(head, to: plan.presented.message.method) }
        }
        let freshened = store(head, decision, times, outdated: outdated)
        let isStored = recorder.isRecording
        let isPart = recorder.isRecordingPart
        // A response that may not be stored was meant for one request alone; a redirect is the same for all.
        let isShared = isStored || (RedirectPolicy.statuses.contains(head.statusCode) && !decision.isPrivate)
        let reason = plan.reason
        // A HEAD is never stored, but its response renews the stored one.
        let isFreshening = plan.presented.message.method == .head && head.statusCode == 200
        let (isAlone, left): (Bool, Upstream.Left?) = state.withLock { state in
            // The last waiter may have left meanwhile.
            guard !state.hasEnded else { return (true, nil) }
            state.hasFailed = plan.revalidation != nil && !isStored && !isFreshening
            // A response without waiters that is not stored need not be received.
            guard isStored || state.audience.hasLoads else { return (true, state.giveUp()) }
            state.phase = .streaming
            state.mayBeFollowed = isPart
            state.received = 0
            state.arrivals = (times.received, times.received)
            let isCollapsed = isShared && state.audience.count > 1
            let status = CacheStatus(
                .forwarded(reason, status: head.statusCode, isStored: isStored, isCollapsed: isCollapsed),
                detail: decision.detail
            )
            let told = head.completed(by: freshened).adding(status)
            if !isShared { state.audience.keepOne(because: .response) }
            state.audience.callAll { $0.transportDidReceive(told) }
            return (!isShared, nil)
        }
        if isAlone { closed(self) }
        if state.withLock(\.hasEnded) { recorder.end(isComplete: false) }
        left?.carryOut()
        makeCalls()
        if !isPart { releaseFollowers(because: isAlone ? .response : .parts) }
    }

    /// Begins to store a response if that is allowed; otherwise makes the changes that it requires.
    ///
    /// - Returns: The stored response that the response to a HEAD has freshened, if it has one.
    private func store(
        _ head: ResponseHead,
        _ decision: StoringDecision,
        _ times: Times,
        outdated: [Int]
    ) -> StoredHead? {
        if case .store(let stored) = decision {
            state.withLock { $0.outdated = outdated }
            recorder.begin(
                stored,
                under: plan.presented.key,
                length: head.statedLength,
                asOf: times.moment,
                inOnePiece: check.withLock { $0 != nil },
                copyingUpTo: copyLimit(of: stored, as: head)
            )
            // The store takes no body of this size. The older responses are outdated all the same. While the disk is
            // full they stay, so that they can still be used without a network.
            if let length = head.statedLength, length > cache.store.largestBody { effects.drop(outdated) }
            return nil
        }
        doNotShare(head.statusCode)
        guard plan.presented.message.method != .get else {
            effects.drop(outdated)
            return nil
        }
        let changes = StoredChange.changes(
            byHead: validation(head),
            to: plan.presented.message,
            stored: plan.variants.heads,
            requestTime: times.sent,
            responseTime: times.received,
            rules: cache.rules
        )
        effects.apply(changes)
        return changes.lazy.compactMap(\.freshened).first
    }
}

extension StoredChange {
    /// The head of a stored response that was confirmed; nil if it must be validated before its next use.
    fileprivate var freshened: StoredHead? {
        guard case .update(_, let head) = self, !head.needsValidation else { return nil }
        return head
    }
}

extension ResponseHead {
    /// The head of the response to a HEAD, with the fields that the freshened response has besides.
    fileprivate func completed(by stored: StoredHead?) -> ResponseHead {
        guard let stored else { return self }
        return stored.headerFields.withoutTags().dictionary.reduce(self) { head, field in
            head.value(forHTTPHeaderField: field.key) == nil ? head.setting(field.key, to: field.value) : head
        }
    }
}

/// The shared tier, which is asked before the network, and gets what the network delivered.
extension SharedFetch {
    /// Asks the shared tier if there is one, and then the network if the tier has no answer.
    ///
    /// Call it on any queue.
    func begin() {
        guard let shared = cache.shared, let request = plan.sharedRequest, shared.admits(request) else {
            return askNetwork()
        }
        // A tier that does not work is hardly ever asked, so going to its thread would only take time.
        let executor = shared.tier.works(.reading) ? shared.tier.executor : nil
        Task(executorPreference: executor) {
            guard await !self.isAnswered(by: shared, request) else { return }
            // A transport may be the app's own code, which must not run on the thread of the tier.
            if executor == nil { self.start() } else { Task { self.start() } }
        }
    }

    /// Asks the tier.
    ///
    /// - Returns: Whether no request to the network is needed.
    private func isAnswered(by shared: SharedResponses, _ request: SharedRequest) async -> Bool {
        // The moment is taken before the look-up, so that a response that is invalidated during the look-up is
        // neither served nor stored.
        var moment = state.withLock(\.times.moment)
        let finding = await shared.find(request) { head, body in
            guard !cache.store.hasInvalidated(request.key, since: moment) else {
                moment = cache.store.moment()
                return .invalidated
            }
            return answer(head, body, moment) ? .used : .tooOld
        }
        switch finding {
        case .used: return true
        case .missing(let claim):
            state.withLock { if !$0.hasEnded { $0.claim = claim } }
            return false
        case .unknown: return false
        }
    }

    /// Answers with a response of the tier, if the strategy allows it, and stores it.
    ///
    /// - Returns: False if the network must be asked.
    private func answer(_ head: StoredHead, _ body: Data, _ moment: StoreMoment) -> Bool {
        // All waiters may have left meanwhile.
        let (hasEnded, hasLoads) = state.withLock { ($0.hasEnded, $0.audience.hasLoads) }
        guard !hasEnded else { return true }
        // The machine that has stored it may have no such rule.
        guard !plan.strategy.checksDigests || body.agrees(with: head) else { return false }
        let isNewer = plan.variants.heads.allSatisfy { $0.responseTime < head.responseTime }
        let variants = StoredVariants([], over: PackedVariant(shared: head, body))
        let decision = CacheDecision.make(
            plan.strategy,
            policy: plan.request.cachePolicy,
            for: plan.presented,
            among: variants.heads,
            now: cache.now(),
            rules: cache.rules
        )
        // A stale response must be renewed. A load that gets it begins that; a renewal in the background would end with
        // it. A response that is as old as the stored one was served already.
        guard case .serve(let selection, let renewal) = decision, renewal == nil || (isNewer && hasLoads) else {
            return false
        }
        let freshness = selection.freshness
        let status = CacheStatus(
            .hit,
            timeToLive: plan.strategy.obeysHTTP
                ? freshness.timeToLive : plan.strategy.limit.map { $0 - freshness.age }
        )
        guard var answer = variants.answer(selection, to: plan.request, status) else { return false }
        answer.renews = renewal.map { plan.renewing(variants, by: $0) }
        let copy = ResponseRecorder(cache.store)
        // The tags are those of this machine's own rule.
        copy.begin(head.tagged(plan.tags), under: plan.presented.key, length: body.count, asOf: moment)
        copy.append(body)
        copy.end(isComplete: true)
        _ = state.withLock { [answer] state in
            state.audience.callAll { $0.fetchDidAnswer(answer) }
            return state.end()
        }
        closed(self)
        makeCalls()
        releaseFollowers()
        return true
    }

    /// The length up to which the body of a response is shared; nil if the response is not shared.
    func copyLimit(of stored: StoredHead, as head: ResponseHead) -> Int? {
        guard let shared = cache.shared, let request = plan.sharedRequest else { return nil }
        // Machines share whole responses only.
        guard stored.status != 206,
            shared.admits(stored.cacheControl, setsCookie: head.setsCookie, length: head.statedLength ?? 0),
            sharedLifetime(of: stored) != nil
        else {
            doNotShare(head.statusCode)
            return nil
        }
        shared.note(request, isShareable: true)
        let hasClaim = state.withLock { state in
            guard state.claim != nil else { return false }
            state.shared = stored
            return true
        }
        return hasClaim ? shared.limits.body : nil
    }

    /// Lets other machines ask the origin at once, because they would wait in vain for a response that is not shared.
    ///
    /// - Parameter status: The status of the response. If it describes the target, the next responses for the URL are
    ///   probably not shared either.
    private func doNotShare(_ status: Int) {
        // The claim is released outside of the lock, because the end of a claim may end a lease.
        _ = state.withLock { ($0.claim.take(), $0.shared.take()) }
        guard let shared = cache.shared, let request = plan.sharedRequest, shared.admits(request), request.takesLease,
            Replacement.describesTarget(status)
        else { return }
        shared.note(request, isShareable: false)
    }

    /// Gives up sharing a response whose body has turned out to be too large.
    func stopSharing() {
        guard let status = state.withLock({ $0.shared?.status }) else { return }
        doNotShare(status)
    }

    /// The action that shares a body once it is stored; nil if it is not shared.
    func sharing() -> (@Sendable (_ body: Data?) -> Void)? {
        let (claim, head) = state.withLock { ($0.claim.take(), $0.shared.take()) }
        guard let shared = cache.shared, let claim, let head, let lifetime = sharedLifetime(of: head) else {
            return nil
        }
        return { body in
            guard let body else { return }
            shared.pending.begin { await shared.store(head, body, for: lifetime, with: claim) }
        }
    }

    /// Shares a stored response that the origin has confirmed.
    ///
    /// It is not known whether the stored response once came with a cookie. So it is shared only if it says that it is
    /// meant for all, or if personal responses are shared too. A response that may not be stored any longer is not
    /// shared.
    func share(_ selection: StoredSelection, confirmedBy head: ResponseHead) {
        guard let shared = cache.shared, let request = plan.sharedRequest,
            let body = plan.variants.body(at: selection.index)
        else { return }
        let control = selection.head.cacheControl
        guard selection.head.isComplete, selection.head.status != 206,
            control.allowsStoring(status: selection.head.status, cache.rules), !selection.head.vary.matchesNothing,
            shared.admits(control, setsCookie: head.setsCookie, length: body.length),
            let lifetime = sharedLifetime(of: selection.head)
        else { return doNotShare(selection.head.status) }
        shared.note(request, isShareable: true)
        let claim = state.withLock { $0.claim.take() }
        guard let claim, control.isPublic || shared.limits.includesPersonal,
            !RequestCacheControl(plan.presented.message.headerFields).noStore
        else { return }
        let checksDigests = plan.strategy.checksDigests
        shared.pending.begin {
            // A damaged body is not shared; the store reports it.
            guard let body = try? body.contents(), !checksDigests || body.agrees(with: selection.head) else { return }
            await shared.store(selection.head, body, for: lifetime, with: claim)
        }
    }

    /// How long a response may be of use to another machine; nil if it is of none.
    private func sharedLifetime(of head: StoredHead) -> Duration? {
        let now = cache.now()
        let lifetime: Duration
        if let limit = plan.strategy.limit {
            lifetime = limit - .seconds(now.timeIntervalSince(head.responseTime))
        } else if head.cacheControl.noCache == .response {
            return nil
        } else {
            let stale = head.cacheControl.mustRevalidate ? nil : head.cacheControl.staleWhileRevalidate
            lifetime = head.freshness(now: now, rules: cache.rules).timeToLive + (stale ?? .zero)
        }
        return lifetime >= .seconds(1) ? lifetime : nil
    }
}

extension ResponseHead {
    /// Whether the response sets a cookie, and so may be meant for one user.
    fileprivate var setsCookie: Bool { value(forHTTPHeaderField: "Set-Cookie") != nil }
}

extension Data {
    /// Whether these bytes have the digests that their response states.
    fileprivate func agrees(with head: StoredHead) -> Bool {
        var check = DigestCheck(StatedDigests(ofContentAfter: head.headerFields, status: head.status))
        check?.update(self)
        return check?.mismatch == nil
    }
}

extension FetchPlan {
    /// The request as the shared tier sees it; nil if its response is not shared.
    fileprivate var sharedRequest: SharedRequest? {
        switch strategy.kind {
        case .standard, .cacheFirst, .staleWhileRevalidate: break
        case .revalidate, .networkFirst, .cacheOnly, .networkOnly: return nil
        }
        // Missing bytes must be of the representation of the stored ones, which only the origin decides.
        guard reason != .request, reason != .partial, !isSecondAttempt, presented.message.method == .get,
            // A pack's files differ from machine to machine.
            !Overlay.contains(presented.key.partition)
        else { return nil }
        return SharedRequest(key: presented.key, fields: presented.message.headerFields)
    }

    /// The plan that renews a response that was served.
    fileprivate func renewing(_ variants: StoredVariants, by revalidation: Revalidation) -> FetchPlan {
        FetchPlan(
            request: request.forWhole,
            presented: presented.forWhole,
            variants: variants,
            strategy: strategy,
            tags: tags,
            revalidation: revalidation,
            ticket: ticket,
            span: span
        )
    }
}

/// The answers to a revalidation: by a conditional request, or by a HEAD request (RFC 9111 §4.3).
extension SharedFetch {
    func validated(_ head: ResponseHead, _ revalidation: Revalidation, _ times: Times) {
        let outcome = ValidationOutcome(
            of: validation(head),
            to: revalidation,
            requestTime: times.sent,
            responseTime: times.received
        )
        switch outcome {
        case .freshened(let selection, let changes):
            effects.apply(changes)
            share(selection, confirmedBy: head)
            settle(selection, head)
        case .standIn(let selection) where plan.mayStandIn:
            let status = CacheStatus(
                .forwarded(plan.reason, status: head.statusCode),
                timeToLive: selection.freshness.timeToLive
            )
            guard let answer = plan.variants.answer(selection, to: plan.request, status) else {
                return receive(head, .refuse(.notMarkedStorable), times, outdated: [])
            }
            let left = state.withLock { state in
                state.hasFailed = true
                state.audience.callAll { $0.fetchDidAnswer(answer) }
                return state.end(.cancelling)
            }
            closed(self)
            left?.carryOut()
            makeCalls()
            releaseFollowers()
        case .reload: state.withLock { $0.repeatAtEnd() }
        case .replaced(_, let outdated):
            receive(head, decision(head, times), times, outdated: outdated)
        case .passOn(let changes):
            // The changes of a HEAD request are made in `receive`, as for every HEAD.
            if plan.presented.message.method == .get { effects.apply(changes) }
            receive(head, .refuse(.conditional), times, outdated: [])
        case .standIn:
            receive(head, .refuse(.notMarkedStorable), times, outdated: [])
        }
    }

    /// Handles the HEAD of a revalidation: equal validators confirm the stored response; otherwise the response is
    /// loaded.
    func compared(_ head: ResponseHead, _ revalidation: Revalidation, _ times: Times) {
        let response = validation(head)
        var question = plan.presented.message
        question.method = .head
        let changes = StoredChange.changes(
            byHead: response,
            to: question,
            stored: plan.variants.heads,
            requestTime: times.sent,
            responseTime: times.received,
            rules: cache.rules
        )
        let hasValidator = response.headerFields.contains(.eTag) || response.headerFields.contains(.lastModified)
        for case .update(let index, let stored) in changes
        where hasValidator && !stored.needsValidation && stored.hasValidator {
            effects.apply([.update(index: index, stored)])
            let selection = StoredSelection(
                of: stored,
                at: index,
                for: plan.presented.message,
                now: times.received,
                isValidated: true,
                rules: cache.rules
            )
            return settle(selection, head)
        }
        state.withLock { $0.repeatAtEnd() }
    }

    /// The head as the answer to a question about the stored responses.
    func validation(_ head: ResponseHead) -> HTTPResponse {
        HTTPResponse(validating: head, plan.variants.heads, storesCodedBodies: cache.storesCodedBodies)
    }

    /// Answers with the stored response at once: no content follows the head.
    private func settle(_ selection: StoredSelection, _ head: ResponseHead) {
        let status = CacheStatus(
            .forwarded(plan.reason, status: head.statusCode),
            timeToLive: plan.strategy.obeysHTTP ? selection.freshness.timeToLive : plan.strategy.limit
        )
        guard let answer = plan.variants.answer(selection, to: plan.request, status) else {
            // The stored body was dropped meanwhile, so the response is loaded again.
            return state.withLock { $0.repeatAtEnd() }
        }
        let isConfirmed = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.confirm(answer)
            return true
        }
        guard isConfirmed else { return }
        closed(self)
        makeCalls()
        releaseFollowers()
    }
}
