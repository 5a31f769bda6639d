public import WaystationFoundation
import WaystationTransport

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
