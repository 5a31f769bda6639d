package import Foundation
import Synchronization
import WaystationCaching
import WaystationCryptography
package import WaystationSharing

/// The responses of one cache that a fleet of machines shares, in a tier.
///
/// Whatever the tier does, a look-up ends in a bounded time, and its result is either a response that a machine of the
/// fleet stored for the same request, or nothing.
///
/// An entry counts only while two other values of the tier, the roots of all entries and of its URL, are those that
/// stood there before the response was requested. So an invalidation removes a root; a tier that drops a root
/// by itself, because it is full, loses responses and never brings an invalidated one back.
package final class SharedResponses: Sendable {
    /// The result of a look-up.
    enum Finding: Sendable {
        /// The tier has a response, and it was used.
        case used
        /// The tier has no response that can be used; one from the origin may be stored with the ticket.
        case missing(SharedTicket)
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
    static let longestLifetime = Duration.days(30)
    /// The lifetime of a root with entries, which it must outlive.
    static let rootLifetime = Duration.days(60)
    /// The lifetime of a root without entries, in which a response has to arrive.
    ///
    /// It is shorter because many URLs never have an entry.
    static let newRootLifetime = Duration.seconds(3_600)
    /// The lifetime of a lease, if its machine ends without ending it.
    static let leaseLifetime = Duration.seconds(10)
    /// The time between two look-ups of a machine that waits and gets no messages.
    static let lookInterval = Duration.milliseconds(50)

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
                return .missing(SharedTicket(request, entry, stamp, lease: nil, of: self))
            }
            // The message is awaited before the lease is asked for, because the other machine may end its lease at
            // once.
            let expectation = arrivals.expect(entry)
            let token = Self.randomBytes()
            switch await tier.lease(token, at: keys.lease(of: entry), for: Self.leaseLifetime) {
            case true?:
                arrivals.forget(expectation, of: entry)
                let ticket = SharedTicket(request, entry, stamp, lease: token, of: self)
                // Another machine may have stored the response between the look-up and the lease.
                switch await lookUp(request, at: entry, use) {
                case .used?: return .used
                case .invalidated?: continue
                case .missing?, nil: return .missing(ticket)
                }
            case false?:
                // Without messages, as in the first moments of a process, a machine has to look again by itself.
                let pause = arrivals.isFollowed ? end - now() : min(end - now(), Self.lookInterval)
                schedule(pause) { expectation.end() }
                await arrivals.wait(for: expectation, of: entry)
            case nil:
                arrivals.forget(expectation, of: entry)
                return .missing(SharedTicket(request, entry, stamp, lease: nil, of: self))
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
        let places = (all: keys.root, url: keys.root(of: request.key.url))
        guard let values = await tier.get([places.all, places.url, entry]),
            let all = await root(values[0], at: places.all), let url = await root(values[1], at: places.url),
            let stamp = SharedStamp(all, url)
        else { return nil }
        switch await open(values[2], at: entry, for: request, under: stamp) {
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
