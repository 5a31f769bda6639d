import Foundation
import FoundationNetworking
import Synchronization
import WaystationTransport

/// The connection of an interceptor to one configuration: a protocol class of its own, and the network behind it.
///
/// Foundation gives a protocol class nothing but a request, so the class itself must identify its binding. Classes are
/// made at run time from generic types, one for each binding. The class of a binding that is gone is never used again:
/// a session may still hold it, and must not come under another interceptor.
final class Binding: Sendable {
    let interceptor: Interceptor
    let network: Network
    let stations: Stations
    let protocolClass: URLProtocol.Type

    init(_ interceptor: Interceptor, _ configuration: URLSessionConfiguration) {
        self.interceptor = interceptor
        network = interceptor.makeNetwork(configuration)
        stations = interceptor.makeStations(network)
        protocolClass = BindingTable.shared.makeClass()
        BindingTable.shared.add(self)
    }

    /// Sends a task's first request past the stations; nil when no rule takes it.
    func firstVisit(for request: URLRequest) -> Visit? {
        guard interceptor.isEnabled, !ForwardingTag.isTagged(request) else { return nil }
        return stations.first(network.completing(request))
    }

    /// Sends an upload past the stations, with its body, if its rule has a transport of its own.
    ///
    /// - Returns: Nil for other tasks, and for an upload whose body is a stream of its delegate.
    func carriedUpload(of task: URLSessionTask, _ request: URLRequest) -> Visit? {
        guard type(of: task) == URLSessionUploadTask.self, interceptor.matcher.match(request)?.step.isCarried ?? false
        else { return nil }
        var request = request
        switch FoundationInternals.body(of: task) {
        case .data(let data): request.httpBody = data
        case .file(let file): request.httpBodyStream = InputStream(url: file)
        case nil: return nil
        }
        return firstVisit(for: request)
    }

    /// The interceptor and the network of a load.
    func context(for request: URLRequest, rule: Int?) -> LoadContext {
        LoadContext(interceptor.environment, stations, network, request, rule: rule)
    }

    /// The error for a task that only Foundation can load and that must not be left to it; nil when it may.
    ///
    /// The reason is that its rule keeps it from the network, or that the app has a transport of its own, which
    /// Foundation's loader would bypass.
    func refusal(of task: URLSessionTask, _ request: URLRequest) -> (error: URLError, rule: Int)? {
        guard let match = interceptor.matcher.match(request) else { return nil }
        guard !match.step.reachesNetwork else {
            let isRefused =
                stations.sources.hasOwnTransport && !interceptor.configuration.leavesTasksToFoundation
                && !interceptor.configuration.leavesOtherTasks
            return isRefused ? (DownloadAdvice.passesTransport(task, request), match.rule) : nil
        }
        let serving = Serving(sources: stations.sources, request: request, canonical: match.canonical)
        if case .block = match.step, case .fail(let error) = serving.verdict(.block) { return (error, match.rule) }
        return (DownloadAdvice.refusal(of: task, request), match.rule)
    }

    deinit {
        BindingTable.shared.remove(protocolClass)
    }

    /// The binding of a protocol class; nil when the binding is gone.
    static func of(_ protocolClass: URLProtocol.Type) -> Binding? {
        BindingTable.shared.binding(of: protocolClass)
    }
}

/// Maps protocol classes to their bindings.
private final class BindingTable: Sendable {
    static let shared = BindingTable()

    /// A box for the weak reference, because copying a weak reference costs far more than retaining a box.
    private final class WeakBinding: Sendable {
        weak let binding: Binding?

        init(_ binding: Binding) { self.binding = binding }
    }

    private let bindings = Mutex<[ObjectIdentifier: WeakBinding]>([:])
    private let count = Atomic(0)

    func makeClass() -> URLProtocol.Type {
        PhantomNumber.protocolClass(count.add(1, ordering: .relaxed).newValue)
    }

    func add(_ binding: Binding) {
        bindings.withLock { $0[ObjectIdentifier(binding.protocolClass)] = WeakBinding(binding) }
    }

    func remove(_ protocolClass: URLProtocol.Type) {
        bindings.withLock { $0[ObjectIdentifier(protocolClass)] = nil }
    }

    func binding(of protocolClass: URLProtocol.Type) -> Binding? {
        bindings.withLock { $0[ObjectIdentifier(protocolClass)] }?.binding
    }
}

/// Types that differ only in a number, written in binary, so that each makes a distinct protocol class.
private enum PhantomNumber {
    private enum End {}
    private enum Zero<Rest> {}
    private enum One<Rest> {}

    static func protocolClass(_ number: Int) -> URLProtocol.Type {
        make(End.self, number)
    }

    private static func make<Number>(_: Number.Type, _ remaining: Int) -> URLProtocol.Type {
        guard remaining > 0 else { return InterceptingProtocol<Number>.self }
        return remaining.isMultiple(of: 2)
            ? make(Zero<Number>.self, remaining / 2) : make(One<Number>.self, remaining / 2)
    }
}
