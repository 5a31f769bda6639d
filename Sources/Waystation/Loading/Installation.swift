import Synchronization
public import WaystationFoundation

extension URLSessionConfiguration {
    /// A copy of the configuration whose sessions load through `interceptor`.
    ///
    /// The other settings of the configuration also apply to forwarded loads: time-outs, proxy, additional header
    /// fields, cookies, credentials, connection limits, and protocol classes of the app's own. Set them first: later
    /// changes affect only the loads that Foundation runs itself, and replacing `protocolClasses` or `urlCache` removes
    /// the interceptor. The sessions keep the interceptor alive.
    ///
    /// Several interceptors may be installed in one configuration; the last one gets a request first.
    public func intercepted(by interceptor: Interceptor) -> URLSessionConfiguration {
        let binding = Binding(interceptor, self)
        let copy = (copy() as? URLSessionConfiguration) ?? .default
        copy.protocolClasses = [binding.protocolClass] + (protocolClasses ?? [])
        copy.urlCache = LookUpCache(binding)
        // Foundation's loader ends the process at a value that is not a String.
        if httpAdditionalHeaders != nil { copy.httpAdditionalHeaders = additionalFields }
        return copy
    }
}

extension Interceptor {
    /// Makes `URLSession.shared` load through an interceptor, for the rest of the process.
    ///
    /// Call it at the start of the program: Foundation accepts a class for the shared session only before the first
    /// `URLSession` of the process is made, and silently ignores later registrations.
    ///
    /// - Throws: ``WaystationError`` with the code `registeredTooLate` when a session already exists, and with
    ///   `alreadyRegistered` when an interceptor, this one or another, was registered before. In that case make a
    ///   session of your own with ``FoundationNetworking/URLSessionConfiguration/intercepted(by:)``.
    public static func registerForSharedSession(_ interceptor: Interceptor) throws {
        try SharedRegistration.register(interceptor)
    }
}

/// The registration with `URLSession.shared`, which lasts as long as the process.
private enum SharedRegistration {
    private static let bindings = Mutex<[Binding]>([])

    static func register(_ interceptor: Interceptor) throws {
        guard bindings.withLock({ $0.isEmpty }) else {
            throw WaystationError(
                .alreadyRegistered,
                """
                URLSession.shared loads through an interceptor already, and keeps it as long as the process runs: give \
                that one all the rules, or make a session of your own with \
                URLSession(configuration: .default.intercepted(by: interceptor))
                """
            )
        }
        let binding = Binding(interceptor, .default)
        guard URLProtocol.registerClass(binding.protocolClass) else {
            throw WaystationError(.registeredTooLate, "Foundation refused the protocol class")
        }
        // The shared session copies the registered classes when it is made, and asks them in order. Our class has an
        // effect only when it comes before Foundation's own class, which the first session registers.
        let classes = URLSession.shared.configuration.protocolClasses ?? []
        let own = classes.firstIndex { $0 == binding.protocolClass }
        let loader = classes.firstIndex { ($0 as? URLProtocol.Type)?.canInit(with: probe) ?? false }
        guard let own, own < loader ?? .max else {
            URLProtocol.unregisterClass(binding.protocolClass)
            throw WaystationError(
                .registeredTooLate,
                """
                a URLSession exists already, so Foundation would ignore the registration: call \
                registerForSharedSession before anything makes a session, or make your own session with \
                URLSession(configuration: .default.intercepted(by: interceptor)). Sessions that a library makes by \
                itself can be reached by a gateway as the proxy of the process (http_proxy)
                """
            )
        }
        bindings.withLock { $0.append(binding) }
    }

    /// A request that Foundation's own loader takes and no rule does, because it is tagged.
    private static var probe: URLRequest {
        ForwardingTag.tagging(URLRequest(url: URL(fileURLWithPath: "/").withScheme("http")))
    }
}

extension URL {
    fileprivate func withScheme(_ scheme: String) -> URL {
        var components = URLComponents()
        components.scheme = scheme
        components.host = "localhost"
        return components.url ?? self
    }
}

extension FoundationCure {
    /// All cures that reach into Foundation, in the order of their traps.
    ///
    /// The one of the sessions that a test reaches is in WaystationTesting, where it is used.
    package static let all: [FoundationCure] =
        ([
            InlineCompletion.current.cure, EndedTask.current.cure, DownloadedFile.current.cure,
            RequestTimeout.current.cure, RequestTimeout.current.limitCure,
            KnownResponses.cure,
        ] + FoundationInternals.cures)
        .sorted { $0.number < $1.number }

    /// The number of the trap; those of the text below the table have none, and come last.
    private var number: Int { Int(trap.dropFirst()) ?? .max }
}
