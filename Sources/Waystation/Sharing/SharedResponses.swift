package import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP
package import WaystationStorage

/// The responses of one cache that a fleet of machines shares, in a tier.
///
/// Whatever the tier does, a look-up ends in a bounded time, and its result is either a response that a machine of the
/// fleet stored for the same request, or nothing.
///
/// An entry counts only while three other values of the tier, the roots of all entries, of its origin and of its URL, are
/// those that stood there before the response was requested. So an invalidation removes a root; a tier that drops a root
/// by itself, because it is full, loses responses and never brings an invalidated one back.
package final class SharedResponses: Sendable {
    /// The result of a look-up.
    enum Finding: Sendable {
        /// The tier has a response, and it was used.
        case used
        /// The tier has no response that can be used; one from the origin may be stored with the claim.
        case missing(SharedClaim)
        /// The tier was not asked, or did not answer.
        case unknown
    }

    /// How a response of the tier was used.
    enum Use: Sendable {
        case used
        /// The response is too old for the load; one machine of the fleet renews it.
        case tooOld
        /// The response was invalidated on this machine while the tier was asked; the tier may have a newer one.
        case invalidated
    }

    /// The limits of what is shared.
    package struct Limits: Sendable {
        /// The size of the largest body.
        package var body: Int
        /// Whether responses that may be meant for one user are shared.
        package var includesPersonal: Bool
        /// How long a load waits for another machine that asks the origin for the same response.
        package var patience: Duration

        package init(body: Int, includesPersonal: Bool, patience: Duration) {
            self.body = body
            self.includesPersonal = includesPersonal
            self.patience = patience
        }
    }

    /// The lifetime of an entry is at most this.
    private static let longestLifetime = Duration.days(30)
    /// The lifetime of a root with entries, which it must outlive.
    private static let rootLifetime = Duration.days(60)
    /// The lifetime of a root without entries, in which a response has to arrive.
    ///
    /// It is shorter because many URLs never have an entry.
    private static let newRootLifetime = Duration.seconds(3_600)
    /// The lifetime of a lease, if its machine ends without ending it.
    private static let leaseLifetime = Duration.seconds(10)
    /// The time between two look-ups of a machine that waits and gets no messages.
    private static let lookInterval = Duration.milliseconds(50)

    let tier: GuardedTier
    let keys: SharedKeys
    let limits: Limits
    let report: @Sendable (TierEvent) -> Void
    let schedule: GuardedTier.Schedule
    let now: @Sendable () -> ContinuousClock.Instant
    /// Distinguishes this machine's messages from those of others.
    let sender = SharedResponses.randomBytes()
    let arrivals = Arrivals()
    let outbox = Mutex(Outbox())
    let unshared = Mutex(UnsharedEntries())
    /// The calls of the tier for which no load waits: responses that are stored there, and leases that end.
    let pending = PendingWork()
    let followers = Mutex<[Task<Void, Never>]>([])

    package init(
        _ tier: any SharedTier,
        secret: Data,
        limits: Limits,
        timeout: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        schedule: @escaping GuardedTier.Schedule,
        report: @escaping @Sendable (TierEvent) -> Void
    ) {
        (tier as? any PunctualTier)?.expectValues(upTo: SharedEntry.longest(forBodiesUpTo: limits.body))
        self.tier = GuardedTier(tier, limit: timeout, now: now, schedule: schedule, report: report)
        keys = SharedKeys(secret: secret)
        self.limits = limits
        self.report = report
        self.schedule = schedule
        self.now = now
    }

    deinit { for follower in followers.withLock({ $0 }) { follower.cancel() } }

    /// Looks up the response to a request.
    ///
    /// If another machine is asking the origin for it, waits for that for a limited time. A request whose
    /// response is probably not shared, such as one for a range, waits for no other machine, and none waits for it. If the
    /// last response could not be shared, the tier is not asked.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - use: Uses a response of the tier.
    /// - Returns: The result.
    func find(_ request: SharedRequest, _ use: (StoredHead, Data) -> Use) async -> Finding {
        let entry = keys.entry(request)
        let begin = now()
        guard !unshared.withLock({ $0.contains(entry, at: begin) }) else { return .unknown }
        let end = begin + limits.patience
        while true {
            guard let outcome = await lookUp(request, at: entry, use) else { return .unknown }
            let stamp: SharedStamp
            switch outcome {
            case .used: return .used
            case .invalidated:
                guard now() < end else { return .unknown }
                continue
            case .missing(let present): stamp = present
            }
            guard now() < end, request.takesLease else {
                return .missing(SharedClaim(request, entry, stamp, lease: nil, of: self))
            }
            // The message is awaited before the lease is asked for, because the other machine may end its lease at
            // once.
            let expectation = arrivals.expect(entry)
            let token = Self.randomBytes()
            switch await tier.lease(token, at: keys.lease(of: entry), for: Self.leaseLifetime) {
            case true?:
                arrivals.forget(expectation, of: entry)
                let claim = SharedClaim(request, entry, stamp, lease: token, of: self)
                // Another machine may have stored the response between the look-up and the lease.
                switch await lookUp(request, at: entry, use) {
                case .used?: return .used
                case .invalidated?: continue
                case .missing?, nil: return .missing(claim)
                }
            case false?:
                // Without messages, as in the first moments of a process, a machine has to look again by itself.
                let pause = arrivals.isFollowed ? end - now() : min(end - now(), Self.lookInterval)
                schedule(pause) { expectation.end() }
                await arrivals.wait(for: expectation, of: entry)
            case nil:
                arrivals.forget(expectation, of: entry)
                return .missing(SharedClaim(request, entry, stamp, lease: nil, of: self))
            }
        }
    }

    private enum Outcome {
        case used
        case invalidated
        case missing(SharedStamp)

        init(_ use: Use, under stamp: SharedStamp) {
            self =
                switch use {
                case .used: .used
                case .tooOld: .missing(stamp)
                case .invalidated: .invalidated
                }
        }
    }

    /// Looks up an entry once; nil if the tier was not asked, or did not answer.
    private func lookUp(
        _ request: SharedRequest,
        at entry: TierKey,
        _ use: (StoredHead, Data) -> Use
    ) async -> Outcome? {
        // An entry that this machine has invalidated may still be there.
        guard outbox.withLock(\.isEmpty) else { return nil }
        let roots = keys.roots(of: request.key.url)
        guard let values = await tier.get(roots + [entry]), let all = await root(values[0], at: roots[0]),
            let origin = await root(values[1], at: roots[1]), let url = await root(values[2], at: roots[2]),
            let stamp = SharedStamp(all, origin, url)
        else { return nil }
        switch await open(values[3], at: entry, for: request, under: stamp) {
        case .response(let head, let body)?: return Outcome(use(head, body), under: stamp)
        case nil: return .missing(stamp)
        case .variants(let names)?:
            let variant = keys.variant(VaryKey(naming: names, request), of: entry)
            guard let values = await tier.get([variant]) else { return nil }
            guard case .response(let head, let body)? = await open(values[0], at: variant, for: request, under: stamp)
            else { return .missing(stamp) }
            return Outcome(use(head, body), under: stamp)
        }
    }

    /// Opens a value, if it is an entry of this fleet that was not invalidated.
    private func open(
        _ value: Data?,
        at place: TierKey,
        for request: SharedRequest,
        under stamp: SharedStamp
    ) async -> SharedEntry? {
        guard let value else { return nil }
        guard let (header, sealed) = SharedEntry.split(value),
            let contents = keys.open(sealed, for: place, header: header),
            let decoded = SharedEntry.decode(contents, for: request)
        else {
            await drop(place, value)
            return nil
        }
        return decoded.stamp == stamp.bytes ? decoded.entry : nil
    }

    /// The value of a root, which is made if it is missing; nil if it is unknown.
    private func root(_ value: Data?, at place: TierKey) async -> Data? {
        if let value {
            if value.count == SharedStamp.rootLength { return value }
            await drop(place, value)
            return nil
        }
        let new = Self.randomBytes()
        guard let isMade = await tier.lease(new, at: place, for: Self.newRootLifetime) else { return nil }
        if isMade { return new }
        // Another machine has just made the root.
        guard let made = await tier.get([place])?[0], made.count == SharedStamp.rootLength else { return nil }
        return made
    }

    /// Removes a value that this fleet has not stored at its place.
    private func drop(_ place: TierKey, _ value: Data) async {
        report(TierEvent(.damaged, "a value of \(value.count) bytes at \(place) was removed: it is not this fleet's"))
        await tier.remove(place, ifEqualTo: value)
    }

    private static func randomBytes() -> Data {
        Data(RandomBytes.make(SharedStamp.rootLength))
    }
}

extension SharedResponses {
    /// Begins to follow the messages of the other machines.
    ///
    /// - Parameters:
    ///   - store: The store of this machine, whose responses the other machines' invalidations remove.
    ///   - file: The file that keeps the number of the last invalidation, for the next run.
    package func follow(into store: ResponseStore, numbersIn file: SequenceFile) {
        let sequence = SharedSequence(file)
        let invalidations = Task { [tier, schedule, keys, sender, report] in
            await Self.follow(keys.invalidations, of: tier, schedule) { [weak self] number in
                let beginning = sequence.begin(after: number, store, report)
                // Such as Redis after a crash, from its last snapshot: the tier has the invalidated responses again.
                if beginning == .setBack { self?.invalidate(.all) }
            } received: { message in
                let content = keys.open(message.content, for: keys.invalidations, header: Data())
                let isOwn = content?.starts(with: sender) ?? false
                let scope = content.flatMap { SharedScope(encoded: Data($0.dropFirst(sender.count))) }
                sequence.receive(message.number, isOwn ? .own : scope.map { .other($0) } ?? .foreign, store, report)
            } ended: {
            }
        }
        let stored = Task { [tier, schedule, keys, arrivals] in
            await Self.follow(keys.arrivals, of: tier, schedule) { _ in
                arrivals.follow(true)
            } received: {
                arrivals.arrived(TierKey(String(decoding: $0.content, as: UTF8.self)))
            } ended: {
                arrivals.follow(false)
            }
        }
        followers.withLock { $0 += [invalidations, stored] }
    }

    /// Subscribes to a channel, and again when the subscription has ended, until the task is cancelled.
    private static func follow(
        _ channel: TierKey,
        of tier: GuardedTier,
        _ schedule: @escaping GuardedTier.Schedule,
        began: (UInt64) -> Void,
        received: (TierMessage) -> Void,
        ended: () -> Void
    ) async {
        var pause = Duration.milliseconds(100)
        while !Task.isCancelled {
            if let subscription = await tier.subscribe(to: channel) {
                pause = .milliseconds(100)
                began(subscription.lastNumber)
                do {
                    for try await message in subscription.messages { received(message) }
                } catch {
                    // The end of the connection; the next subscription shows whether messages were missed.
                }
                ended()
            }
            guard !Task.isCancelled else { return }
            await withCheckedContinuation { continuation in schedule(pause) { continuation.resume() } }
            pause = min(pause * 2, .seconds(30))
        }
    }
}

extension SharedResponses {
    /// Invalidates responses in the tier and on all other machines.
    ///
    /// The invalidation is tried again until it has reached the tier. Until then, this machine does not read from it.
    /// So this comes before the removal from the machine's own store: a load that begins after that removal could
    /// otherwise find the response in the tier, and store it here again.
    func invalidate(_ scope: SharedScope) { send(scope) }

    /// Invalidates responses, and waits until the invalidation has reached the tier, or an attempt has failed.
    ///
    /// - Parameters:
    ///   - scope: The responses.
    ///   - remove: Removes them from this machine's own store.
    /// - Returns: The result of `remove`.
    /// - Throws: The error of `remove`; the invalidation is delivered nevertheless.
    func invalidate(_ scope: SharedScope, _ remove: () async throws -> Int) async throws -> Int {
        let attempt = Expectation()
        send(scope, awaiting: attempt)
        let removed: Result<Int, any Error>
        do {
            removed = .success(try await remove())
        } catch {
            removed = .failure(error)
        }
        await attempt.wait()
        return try removed.get()
    }

    private func send(_ scope: SharedScope, awaiting attempt: Expectation? = nil) {
        switch outbox.withLock({ $0.add(scope, awaiting: attempt) }) {
        case .deliver: Task { await deliver() }
        case .endPause(let pause): pause.end()
        case .nothing: break
        }
    }

    /// Delivers all invalidations that wait.
    private func deliver() async {
        let shortest = Duration.milliseconds(250)
        var length = shortest
        while let scope = outbox.withLock({ $0.next() }) {
            if await deliver(scope) {
                for attempt in outbox.withLock({ $0.delivered() }) { attempt.end() }
                length = shortest
                continue
            }
            let pause = Expectation()
            for attempt in outbox.withLock({ $0.failed(before: pause) }) { attempt.end() }
            if length == shortest {
                report(TierEvent(.delayed, "an invalidation could not be delivered; it is tried again"))
            }
            schedule(length) { pause.end() }
            await pause.wait()
            length = min(length * 2, .seconds(30))
        }
    }

    private func deliver(_ scope: SharedScope) async -> Bool {
        let root: TierKey =
            switch scope {
            case .url(let url): keys.root(of: url)
            // The tier cannot list the entries of a host or with a tag, so all of them go; for the groups of an origin, all
            // entries of the origin.
            case .all, .prefix, .host, .origin, .labels: scope.origin.map(keys.root(ofOrigin:)) ?? keys.root
            }
        guard await tier.remove(root),
            let message = keys.seal(sender + scope.encoded, for: keys.invalidations, header: Data())
        else { return false }
        return await tier.publish(message, on: keys.invalidations, isDurable: true) != nil
    }
}

extension SharedResponses {
    /// Whether the response to a request may be looked up and shared.
    func admits(_ request: SharedRequest) -> Bool { limits.includesPersonal || !request.isPersonal }

    /// Whether a response may be shared, by its fields and its size.
    ///
    /// - Parameters:
    ///   - control: The directives of the response.
    ///   - setsCookie: Whether the response sets a cookie; then it may be meant for one user.
    ///   - length: The number of bytes of the body.
    /// - Returns: Whether the response may be shared.
    func admits(_ control: CacheControl, setsCookie: Bool, length: Int) -> Bool {
        guard length <= limits.body else { return false }
        return limits.includesPersonal || (control.private == .nothing && !setsCookie)
    }

    /// Records whether the response to a request could be shared, for the next loads of this machine.
    func note(_ request: SharedRequest, isShareable: Bool) {
        if !isShareable {
            let (entry, time) = (keys.entry(request), now())
            unshared.withLock { $0.insert(entry, at: time) }
        } else if !unshared.withLock(\.isEmpty) {
            let entry = keys.entry(request)
            unshared.withLock { $0.remove(entry) }
        }
    }

    /// Stores a response in the tier, gives it a lifetime, and ends the claim's lease.
    func store(_ head: StoredHead, _ body: Data, for lifetime: Duration, with claim: SharedClaim) async {
        defer { claim.end() }
        let lifetime = min(lifetime, Self.longestLifetime)
        guard lifetime >= .seconds(1), outbox.withLock(\.isEmpty) else { return }
        // The entry is of use only as long as its roots, which may be about to end.
        let roots = keys.roots(of: claim.request.key.url)
        async let all = tier.touch(roots[0], for: Self.rootLifetime)
        async let origin = tier.touch(roots[1], for: Self.rootLifetime)
        async let url = tier.touch(roots[2], for: Self.rootLifetime)
        guard await (all, origin, url) == (true, true, true) else { return }
        var place = claim.entry
        if !head.vary.nominees.isEmpty {
            let names = SharedEntry.variants(of: head.vary.nominees.map(\.name))
            guard await put(names, at: place, for: lifetime, under: claim.stamp) else { return }
            place = keys.variant(head.vary, of: place)
        }
        _ = await put(.response(head, body: body), at: place, for: lifetime, under: claim.stamp)
    }

    private func put(
        _ entry: SharedEntry,
        at place: TierKey,
        for lifetime: Duration,
        under stamp: SharedStamp
    ) async -> Bool {
        let contents = entry.encoded(under: stamp.bytes)
        let header = SharedEntry.header(for: contents.count + SharedKeys.sealLength)
        guard let sealed = keys.seal(contents, for: place, header: header) else { return false }
        return await tier.put(header + sealed, at: place, for: lifetime)
    }

    /// Ends a lease, and reports that to the machines that wait for it.
    func endLease(_ token: Data, of entry: TierKey) {
        pending.begin { [tier, keys] in
            await tier.remove(keys.lease(of: entry), ifEqualTo: token)
            _ = await tier.publish(Data(entry.name.utf8), on: keys.arrivals, isDurable: false)
        }
    }
}

extension VaryKey {
    /// The key of a request among responses that vary by the named fields.
    init(naming names: [HTTPField.Name], _ request: SharedRequest) {
        let list = names.map(\.canonicalName).joined(separator: ", ")
        self.init([.vary: list], request: request.fields)
    }
}

/// The entries whose last response could not be shared.
///
/// The next loads of such an entry neither ask the tier nor wait for other machines. Varnish calls this hit-for-miss.
///
/// A response that can be shared again removes its entry; each entry is forgotten after a minute in any case.
struct UnsharedEntries: Sendable {
    static let lifetime = Duration.seconds(60)
    /// The number of entries; more replace the ones that were added first.
    static let limit = 4_096

    private var ends = LeastRecentlyUsed<TierKey, ContinuousClock.Instant>()

    var isEmpty: Bool { ends.count == 0 }

    func contains(_ entry: TierKey, at now: ContinuousClock.Instant) -> Bool {
        ends.position(of: entry).flatMap { ends[$0] }.map { now < $0 } ?? false
    }

    mutating func insert(_ entry: TierKey, at now: ContinuousClock.Instant) {
        ends.insert(now + Self.lifetime, for: entry, cost: 1)
        if ends.count > Self.limit { ends.removeOldest() }
    }

    mutating func remove(_ entry: TierKey) { ends.remove(entry) }
}
