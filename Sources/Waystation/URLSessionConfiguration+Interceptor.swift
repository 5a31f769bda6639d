import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    /// A copy of the configuration whose sessions load through `interceptor`.
    ///
    /// The rest of the configuration holds for what is forwarded as well: time-outs, proxy, additional header
    /// fields, cookies, credentials, connection limits, and protocol classes of the app's own. Set those first;
    /// what is changed afterwards holds for Foundation's part alone, and replacing `protocolClasses` or `urlCache` takes
    /// the interceptor out again. The sessions keep the interceptor alive.
    ///
    /// Several interceptors may be installed one over the other; the last one sees a request first.
    public func intercepted(by interceptor: Interceptor) -> URLSessionConfiguration {
        let binding = Binding(interceptor, self)
        let copy = (copy() as? URLSessionConfiguration) ?? .default
        copy.protocolClasses = [binding.protocolClass] + (protocolClasses ?? [])
        copy.urlCache = LookUpCache(binding)
        return copy
    }
}

extension Interceptor {
    /// Makes `URLSession.shared` load through an interceptor, for the rest of the process.
    ///
    /// To be called at the start of the program: Foundation takes a class for the shared session only before
    /// the first `URLSession` of the process is made. Later registrations would be ignored silently.
    ///
    /// - Throws: ``WaystationError`` with the code `registeredTooLate` when a session exists already, and with
    ///   `alreadyRegistered` when an interceptor, this one or another, was registered before. Then make a session of your
    ///   own with ``FoundationNetworking/URLSessionConfiguration/intercepted(by:)``.
    public static func registerForSharedSession(_ interceptor: Interceptor) throws {
        try SharedRegistration.register(interceptor)
    }
}
