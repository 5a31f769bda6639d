public import Foundation
public import FoundationNetworking
public import Logging
public import WaystationCaching
public import WaystationPacks

extension Interceptor {
    /// What an interceptor is made of.
    public struct Configuration: Sendable {
        // MARK: Dependencies

        /// The response cache that rules with `.cache(…)` use; nil by default.
        ///
        /// Several interceptors may share one.
        public var cache: ResponseCache?
        /// The installed packs that rules with `.pack` use; nil by default.
        ///
        /// Several interceptors may share one.
        public var packs: PackLibrary?
        /// The cookies that requests carry, chosen as RFC 6265 says; nil, the default, leaves them to Foundation.
        ///
        /// With a login and none of its own, the interceptor has a store in memory.
        public var cookies: CookieStore?
        /// The login that rules may require; nil by default.
        public var login: LoginSession?
        /// Further places that hold the same cookies, kept in step both ways; none by default.
        ///
        /// The `HTTPCookieStorage` of each session is one by itself.
        public var cookieStorages: [any CookieStorage] = []
        /// Makes the network of a session from its configuration; ``URLSessionTransport`` by default.
        ///
        /// Called with the first request that needs it, for each configuration that is intercepted; of transports that
        /// are made at once by several requests one is used.
        ///
        /// Once it is set, every data task that a rule lets through to the network uses this transport. No load is
        /// handed back to Foundation's own loader, whose traffic would pass the transport by: uploads, downloads and
        /// web sockets that a rule takes fail with ``WaystationError/Code/transportNeedsDataTask``, unless
        /// ``leavesTasksToFoundation`` allows them.
        public var makeTransport: @Sendable (URLSessionConfiguration) -> any Transport = {
            URLSessionTransport(configuration: $0)
        }
        {
            didSet { hasOwnTransport = true }
        }
        /// Whether the app has set ``makeTransport``.
        private(set) var hasOwnTransport = false
        /// Hears of each load with its body; nil, the default, collects nothing and costs nothing.
        public var recorder: (any ExchangeRecorder)?
        /// The clock; the system's by default.
        public var now: @Sendable () -> Date = { Date() }
        /// Runs work after a delay; a dispatch timer by default.
        public var schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: .now() + $0.inSeconds, execute: $1)
        }
        /// Where the interceptor logs: warnings for what is broken, everything else at `debug` and `trace`.
        public var logger = Logger(label: "waystation")

        // MARK: Options

        /// The choices that the RFCs of HTTP caching leave to a cache, for `.standard` and `.revalidate`
        /// above all.
        public var cachingRules = CachingRules()

        /// How long a storage of cookies may take for a sync; 3 s by default.
        public var storageTimeout = Duration.seconds(3)

        /// The rules, in order; none by default, so that nothing is touched.
        public var rules: [Rule] = []

        /// How bodies travel in request headers; nil, the default, leaves header fields as they are.
        ///
        /// For apps whose pages send them so.
        public var headerBody: HeaderBody?
        /// How body streams are kept so that they can be sent again; in memory up to 1 MiB by default, else in a file.
        ///
        /// With nil a stream is sent once, by Foundation's own loader: without its body after a redirect, and in the time
        /// that the app takes to write it.
        public var bodySpool: BodySpool? = BodySpool()
        /// Whether uploads, downloads and web sockets are left to Foundation's own loader although the app has set
        /// ``makeTransport``; false by default.
        ///
        /// Only Foundation can load them, and its traffic passes the app's transport by. Without a transport of the
        /// app's own they are always left to it.
        public var leavesTasksToFoundation = false
        /// Whether bodies that arrive in a content coding, gzip for instance, are stored; false by default.
        ///
        /// Foundation decodes such bodies and reports no error when the coded bytes end too early, so it cannot be known
        /// whether they are whole. By default a request whose response may be stored asks for `Accept-Encoding: identity`,
        /// unless the app set that field; a response that is coded all the same is delivered and not stored. With true
        /// bodies travel coded and are stored as they come, which saves traffic with origins that never cut them.
        public var storesCodedBodies = false
        /// The links that belong to other apps; none by default.
        public var externalLinks: ExternalLinks?

        /// A configuration without rules.
        public init() {}
    }
}
