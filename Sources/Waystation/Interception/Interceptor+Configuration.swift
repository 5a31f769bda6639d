public import Logging
public import WaystationFoundation
public import WaystationHTTP

extension Interceptor {
    /// The dependencies and options of an interceptor.
    public struct Configuration: Sendable {
        // MARK: Dependencies

        /// The response cache that rules with `.cache(…)` use; nil by default.
        ///
        /// Several interceptors may share one.
        public var cache: ResponseCache?
        /// The installed packs that rules with `.pack` use; the property `packs` of `WaystationPacks` sets them.
        package var installedPacks: (any InstalledPacks)?
        /// The cookies that requests carry, chosen as RFC 6265 says; nil, the default, leaves them to Foundation.
        ///
        /// If a login is set and no store, the interceptor uses a store in memory.
        public var cookies: CookieStore?
        /// The login that rules may require; nil by default.
        public var login: LoginSession?
        /// Further places that hold the same cookies, kept in step in both directions; none by default.
        ///
        /// The `HTTPCookieStorage` of each session is such a place without being named here.
        public var cookieStorages: [any CookieStorage] = []
        /// The engine that carries requests to the network; Foundation's own by default.
        ///
        /// Setting this property also sets ``makeTransport``; the one that is set last counts. Unlike a transport that is
        /// set there, an engine leaves uploads, downloads and web sockets to Foundation.
        public var transport: Carrier = .urlSession {
            didSet {
                makeTransport = transport.makeTransport
                hasOwnTransport = !transport.isFoundation
                leavesOtherTasks = true
            }
        }
        /// Makes the network of a session from its configuration; ``Waystation/URLSessionTransport`` by default.
        ///
        /// It is called with the first request that needs it, for each configuration that is intercepted. If several
        /// requests make transports at the same time, one of them is used. The configuration has no cookie storage:
        /// requests have their cookies, and those of responses are stored whatever the transport is.
        ///
        /// Once it is set, every data task that a rule lets through to the network uses this transport. No load is
        /// handed back to Foundation's own loader, whose traffic would bypass the transport: uploads, downloads and web
        /// sockets that a rule takes fail with ``WaystationError/Code/transportNeedsDataTask``, unless
        /// ``leavesTasksToFoundation`` allows them.
        public var makeTransport: @Sendable (URLSessionConfiguration) -> any Transport = {
            URLSessionTransport(configuration: $0)
        }
        {
            didSet {
                hasOwnTransport = true
                leavesOtherTasks = false
            }
        }
        /// Whether the app has set ``makeTransport``.
        private(set) var hasOwnTransport = false
        /// Whether the engine leaves tasks that are not data tasks to Foundation.
        private(set) var leavesOtherTasks = false
        /// Gets each load with its body; nil, the default, collects nothing and costs nothing.
        public var recorder: (any ExchangeRecorder)?
        /// The clock; the system's by default.
        public var now: @Sendable () -> Date = { Date() }
        /// Runs an action after a delay; uses a dispatch timer by default.
        public var schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: .now() + $0.inSeconds, execute: $1)
        }
        /// The log of the interceptor: warnings for problems, all other entries at `debug` and `trace`.
        public var logger = Logger(label: "waystation")

        // MARK: Options

        /// The choices that the RFCs of HTTP caching leave to a cache; they apply mainly to `.standard` and
        /// `.revalidate`.
        public var cachingRules = CachingRules()

        /// How long a storage of cookies may take for a sync; 3 s by default.
        public var storageTimeout = Duration.seconds(3)

        /// The rules, in order; none by default, so that nothing is touched.
        public var rules: [Rule] = []

        /// The form of request bodies in header fields; nil, the default, leaves header fields as they are.
        ///
        /// It is for apps whose pages send their bodies in that form.
        public var headerBody: HeaderBody?
        /// How body streams are stored so that they can be sent again; by default in memory up to 1 MiB, otherwise in a
        /// file.
        ///
        /// With nil, a stream is sent once, by Foundation's own loader: after a redirect its body is missing, and the
        /// exchange takes as long as the app takes to write the body.
        public var bodySpool: BodySpool? = BodySpool()
        /// Whether uploads, downloads and web sockets are left to Foundation's own loader although the app has set
        /// ``makeTransport``; false by default.
        ///
        /// Only Foundation can load such tasks, and its traffic bypasses the app's transport. If the app has set no
        /// transport, such tasks are always left to Foundation.
        public var leavesTasksToFoundation = false
        /// Whether bodies that arrive in a content coding, gzip for instance, are stored; false by default.
        ///
        /// Foundation decodes such bodies and reports no error when the coded bytes end too early, so the library
        /// cannot check that they are complete. By default a request whose response may be stored asks for
        /// `Accept-Encoding: identity`, unless the app set that field; a response that is coded all the same is
        /// delivered and not stored. With true, bodies are transferred in a coding and are stored as they arrive, which
        /// saves traffic with origins that never cut them.
        ///
        /// With true, Foundation's engine also stores bodies over https whose length no field states, as is usual for pages
        /// that servers make for each request over HTTP/2: Foundation does not report that such a body was cut. The engine
        /// on SwiftNIO stores them in any case, because it checks their end.
        public var storesCodedBodies = false
        /// The links that belong to other apps; none by default.
        public var externalLinks: ExternalLinks?

        /// Makes a configuration without rules.
        public init() {}
    }
}
