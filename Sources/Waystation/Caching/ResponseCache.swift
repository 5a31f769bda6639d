import Dispatch
public import Foundation
import Synchronization
import WaystationHTTP
public import WaystationStorage

/// The response cache: responses on disk with the time of their arrival, limited by age and bytes.
///
/// Several caches and processes may use one directory at the same time. A cache that cannot read or write, on a full or
/// damaged disk, degrades: look-ups find nothing, nothing is stored, loads use the network, and an event reports it.
///
/// ```swift
/// let cache = try ResponseCache(
///     directory: caches.appending(path: "http"),
///     maximumSize: .megabytes(200),
///     maximumAge: .days(30)
/// )
/// ```
public final class ResponseCache: Sendable {
    package let store: ResponseStore
    /// The responses that the cache shares with other machines; nil if it shares none.
    package let shared: SharedResponses?
    /// The URLs of the keys under which rules store the responses of a URL.
    let keyedURLs = KeyedURLs()
    private let listeners: Listeners<StoreEvent>
    private let tierListeners: Listeners<TierEvent>
    private let now: @Sendable () -> Date

    /// The directory that holds the cache.
    public let directory: URL

    /// Opens the cache in a directory, or makes it.
    ///
    /// The call makes and checks the directory, and waits for the disk; the index is opened in the background.
    ///
    /// - Parameters:
    ///   - directory: A folder that only caches use; it is made when missing, with access for its owner alone.
    ///   - maximumSize: The size of the directory on disk, 256 MiB by default. Above it the least recently used responses
    ///     are removed until 80 % remain. While responses are written, the directory may have a quarter more and 4 MiB.
    ///     A size below 1 MiB limits the bytes of the responses, and the directory takes up to 1 MiB.
    ///   - maximumAge: The age after which responses are removed automatically; 30 days by default.
    ///   - maximumEntrySize: The size above which a body is delivered and not stored; 32 MiB by default.
    ///   - memorySize: The size of the responses that are also kept in memory; 32 MiB by default, zero for none.
    ///     In addition, the heads of the responses that were read last take at most 4 MiB.
    ///   - sharing: The tier whose responses the cache shares with other machines; nil, the default, for none.
    ///   - now: The clock; for tests.
    /// - Throws: ``WaystationError`` with the code `unusableDirectory` when the URL is not a file URL, the directory
    ///   cannot be made, is not a directory, is a symbolic link, belongs to another user or may be written to by others,
    ///   and when the same is true of a file or folder in it that the cache would use; with the code `invalidSecret` when
    ///   the secret of `sharing` is too short. Temporary problems, such as a full disk, and a damaged index do not throw:
    ///   loads use the network meanwhile, and ``condition`` names the reason.
    public convenience init(
        directory: URL,
        maximumSize: ByteCount = .mebibytes(256),
        maximumAge: Duration = .days(30),
        maximumEntrySize: ByteCount = .mebibytes(32),
        memorySize: ByteCount = .mebibytes(32),
        sharing: Sharing? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        try self.init(
            directory: directory,
            limits: StoreLimits(
                maximumSize: maximumSize,
                maximumAge: maximumAge,
                maximumEntrySize: maximumEntrySize,
                residentLimit: memorySize
            ),
            environment: StoreEnvironment(),
            sharing: sharing,
            now: now
        )
    }

    /// Opens a cache on a disk that a test provides.
    package init(
        directory: URL,
        limits: StoreLimits = StoreLimits(),
        environment: StoreEnvironment,
        sharing: Sharing? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        if let problem = directory.fileURLProblem {
            throw WaystationError(.unusableDirectory, "the cache's directory \(problem)")
        }
        do {
            try ResponseStore.prepareDirectory(directory)
        } catch {
            let reason = error.cause.map { " (\($0))" } ?? ""
            throw WaystationError(.unusableDirectory, error.message + reason, cause: error.cause)
        }
        let listeners = Listeners<StoreEvent>()
        self.listeners = listeners
        self.now = now
        self.directory = directory
        store = ResponseStore(directory: directory, limits: limits, environment: environment, now: now) {
            listeners.report($0)
        }
        let tierListeners = Listeners<TierEvent>()
        self.tierListeners = tierListeners
        shared = try sharing?.begin(with: store, in: directory) { tierListeners.report($0) }
    }

    /// Removes all responses.
    ///
    /// If the cache shares responses, this method and the other `remove` methods, except ``remove(olderThan:)``, remove
    /// them on all machines. They return when the shared tier has got the invalidation, or when one attempt has failed;
    /// the invalidation is then delivered later.
    ///
    /// If the store does not work, this method and the other `remove` methods, except ``remove(olderThan:)``, throw, and
    /// the removal is tried again later. Until it succeeds, this cache does not find the responses any more.
    ///
    /// - Returns: The number of responses that were removed on this machine.
    /// - Throws: `StoreError` of WaystationStorage when the store does not work; some responses may have been removed
    ///   then.
    @discardableResult
    public func removeAll() async throws -> Int { try await remove(.all) }

    /// Removes all variants that are stored for a URL, for all logins.
    ///
    /// They include those under the keys that rules of this process choose (``CacheKey``), such as the URL without an
    /// ignored item of the query, and those for each body; and, if responses of the URL's path have `No-Vary-Search`, all
    /// responses of the path with this field.
    ///
    /// - Returns: The number of responses that were removed on this machine.
    /// - Throws: `StoreError` of WaystationStorage when the store does not work; some responses may have been removed
    ///   then.
    @discardableResult
    public func remove(_ url: URL) async throws -> Int {
        var count = 0
        for url in keyedURLs.all(of: CanonicalRequest.storedURL(of: url)) { count += try await remove(.url(url)) }
        return count
    }

    /// Removes all responses whose URL begins with `prefix`, such as `https://shop.example/app/`.
    ///
    /// The URLs of stored responses have no user information.
    ///
    /// - Returns: The number of responses that were removed on this machine.
    /// - Throws: `StoreError` of WaystationStorage when the store does not work; some responses may have been removed
    ///   then.
    @discardableResult
    public func remove(prefix: String) async throws -> Int { try await remove(.prefix(prefix)) }

    /// Removes all responses from a host, such as `img.example`, on any of its ports.
    ///
    /// The name may have any spelling, and does not include subdomains. Use ``remove(prefix:)`` for a single port.
    ///
    /// - Returns: The number of responses that were removed on this machine.
    /// - Throws: ``WaystationError`` with the code `invalidHost` when the text is not the name or address of a host
    ///   alone, such as `img.example:8443`; nothing is removed then. `StoreError` of WaystationStorage when the store
    ///   does not work; some responses may have been removed then.
    @discardableResult
    public func remove(host: String) async throws -> Int {
        guard let name = CanonicalURL.host(host) else {
            throw WaystationError(
                .invalidHost,
                "“\(host.shown())” is not a host: give a name or an address without scheme and port, such as shop.example; "
                    + "remove(prefix:) removes the responses of a port"
            )
        }
        return try await remove(.host(name))
    }

    /// Removes responses here, in the shared tier, and on the machines that share it.
    private func remove(_ scope: SharedScope) async throws -> Int {
        let remove = { [store] in
            try await withCheckedContinuation { done in scope.invalidate(in: store) { done.resume(returning: $0) } }
                .get()
        }
        return if let shared { try await shared.invalidate(scope, remove) } else { try await remove() }
    }

    /// Purges the responses with a tag, which the `tags` of ``Route/cache(_:key:tags:)`` have given them.
    ///
    /// The call takes the same time however many responses there are. Loads that begin after it do not get a response from
    /// before it, except as `kind` says; a response whose request was sent before is not stored. If the cache shares
    /// responses, the purge has its effect on all machines: all entries of the tier are dropped, because a tier does not
    /// know tags, and each machine purges its own responses. This call returns as ``removeAll()`` does.
    ///
    /// ```swift
    /// try await cache.purge(tag: "prices", as: .soft)
    /// ```
    ///
    /// - Parameters:
    ///   - tag: The tag, compared character by character.
    ///   - kind: Whether the responses are never served again, the default, or are only stale at once (RFC 9111 §4.2.4,
    ///     RFC 5861): then they serve while they are revalidated, if the origin fails, or without a network, where their
    ///     fields or the rule's strategy allow that, and a 304 makes them fresh again.
    /// - Throws: `StoreError` of WaystationStorage when the store does not work. This cache purges the responses all the
    ///   same; the purge is tried again later, so that it outlasts this process.
    public func purge(tag: String, as kind: PurgeKind = .hard) async throws { try await purge(.tag(tag), as: kind) }

    /// Purges the responses of a group, into which their origin has put them by `Cache-Groups` (RFC 9875 §2).
    ///
    /// It has the effect of ``purge(tag:as:)``, but for the tier: of that, all entries of the origin are dropped. A response
    /// of the origin to an unsafe request purges groups too, by `Cache-Group-Invalidation` (RFC 9875 §3).
    ///
    /// - Parameters:
    ///   - group: The name of the group, compared character by character.
    ///   - origin: A URL of the origin, such as `https://shop.example/`: equal names of other origins are other groups.
    ///   - kind: Whether the responses are never served again, the default, or are only stale at once.
    /// - Throws: ``WaystationError`` with the code `invalidHost` when the URL has no origin; nothing is purged then.
    ///   `StoreError` of WaystationStorage when the store does not work, as by ``purge(tag:as:)``.
    public func purge(group: String, of origin: URL, as kind: PurgeKind = .hard) async throws {
        guard let canonical = CanonicalURL(origin.absoluteString) else {
            throw WaystationError(
                .invalidHost,
                "“\(origin.absoluteString.shown())” has no origin: give an absolute URL, such as https://shop.example/"
            )
        }
        try await purge(.group(group, origin: canonical.origin), as: kind)
    }

    private func purge(_ label: ResponseLabel, as kind: PurgeKind) async throws {
        _ = try await remove(.labels([label], kind))
    }

    /// Removes all responses that arrived longer ago than `age`, on this machine alone.
    ///
    /// - Returns: The number of responses that were removed on this machine.
    /// - Throws: `StoreError` of WaystationStorage when the store does not work; some responses may have been removed
    ///   then.
    @discardableResult
    public func remove(olderThan age: Duration) async throws -> Int {
        try await store.remove(olderThan: now().addingTimeInterval(-age.inSeconds))
    }

    /// Counts of the stored responses.
    public var statistics: StoreStatistics {
        get async { await store.statistics() }
    }

    /// Waits until all responses that were passed to the cache are on disk, and in the shared tier if there is one.
    ///
    /// A process that ends without this call may leave other machines waiting for a response that it has just loaded. A
    /// tier that does not answer is given up after ``Sharing/timeout``.
    public func flush() async {
        await store.flush()
        await shared?.pending.wait()
    }

    /// The present problems of the cache, as the events that reported them; empty if the cache has no problem.
    ///
    /// A cache opens in the background; ``flush()`` returns after the attempt. Readers of ``Interceptor/events`` get
    /// these events first.
    public var condition: [StoreEvent] { store.condition }

    /// Calls `listener` for the events of ``condition`` first, and then for every new event.
    ///
    /// Several interceptors may share one cache. The listener is removed after `owner` was released.
    func addListener(
        for owner: any AnyObject & Sendable,
        _ listener: @escaping @Sendable (StoreEvent) -> Void
    ) {
        listeners.add(for: owner, listener)
        for event in condition { listener(event) }
    }

    /// Calls `listener` for every new event of the shared tier, until `owner` is released.
    func addListener(
        for owner: any AnyObject & Sendable,
        _ listener: @escaping @Sendable (TierEvent) -> Void
    ) {
        tierListeners.add(for: owner, listener)
    }
}

extension ResponseCache {
    /// The tier through which a cache shares responses with the caches of other machines, and the limits of that.
    ///
    /// All caches that name the same tier and have the same secret form a fleet: a response that one of them has loaded
    /// answers the loads of all. A look-up goes from memory to the disk, to the tier and to the origin. A response from
    /// the tier is stored on the disk with the time at which it left the origin.
    ///
    /// A tier never makes a load fail. Each call that a load waits for takes at most ``timeout``; when calls fail or are
    /// slow, the tier is left alone for a while, and ``LoadEvent/Kind/shared(_:)`` events report that.
    ///
    /// The strategies `.standard`, `.cacheFirst` and `.staleWhileRevalidate` look up in the tier. A response stays in
    /// the tier for as long as it is fresh and may be used stale while it is revalidated, or up to the limit of the
    /// strategy; 30 days at most.
    public struct Sharing: Sendable {
        /// The tier.
        public var tier: any SharedTier
        /// The fleet's secret, at least 16 random bytes, known to all of its machines and to no one else.
        ///
        /// The names of the tier's values are hashes under a key derived from it, and the values are sealed with one: who
        /// can read the tier learns no URL, token or response, and who can write to it cannot forge a response.
        public var secret: Data
        /// Whether responses that may be meant for one user are shared as well; false by default.
        ///
        /// Such are responses with `Cache-Control: private` or `Set-Cookie`, and responses to requests with
        /// `Authorization` or cookies. With true, requests with different credentials or cookies still share nothing.
        public var includesPersonalResponses = false
        /// The size above which a body stays on this machine; 1 MiB by default.
        ///
        /// Give all machines the same: `RedisTier` removes an entry that is larger by more than 1 MiB.
        public var maximumEntrySize = ByteCount.mebibytes(1)
        /// The time after which a call of the tier is given up; 250 ms by default.
        ///
        /// A subscription to the messages of other machines, for which no load waits, has 5 s at least.
        public var timeout = Duration.milliseconds(250)
        /// How long a load waits while another machine asks the origin for the same response; 2 s by default, zero to
        /// ask at once.
        public var patience = Duration.seconds(2)

        var now: @Sendable () -> ContinuousClock.Instant = { .now }
        var schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: .now() + $0 / .seconds(1), execute: $1)
        }

        /// Shares responses through a tier.
        ///
        /// - Parameters:
        ///   - tier: The tier, such as a `RedisTier`.
        ///   - secret: The fleet's secret, at least 16 random bytes.
        public init(in tier: any SharedTier, secret: Data) {
            self.tier = tier
            self.secret = secret
        }

        /// Begins to share the responses of a store.
        func begin(
            with store: ResponseStore,
            in directory: URL,
            _ report: @escaping @Sendable (TierEvent) -> Void
        ) throws -> SharedResponses {
            guard secret.count >= 16 else {
                throw WaystationError(
                    .invalidSecret,
                    "the secret of a shared tier has \(secret.count) bytes: give it at least 16 random ones"
                )
            }
            let shared = SharedResponses(
                tier,
                secret: secret,
                limits: SharedResponses.Limits(
                    body: maximumEntrySize.bytes,
                    includesPersonal: includesPersonalResponses,
                    patience: patience
                ),
                timeout: timeout,
                now: now,
                schedule: schedule,
                report: report
            )
            shared.follow(into: store, numbersIn: SequenceFile(in: directory))
            return shared
        }
    }
}
