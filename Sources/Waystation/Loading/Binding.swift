import Synchronization
import WaystationFoundation

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
    /// Whether the requests that interceptors send are taken, too: those of a test's code under test must not reach the
    /// network either.
    private let takesForwarded: Bool

    init(_ interceptor: Interceptor, _ configuration: URLSessionConfiguration, takesForwarded: Bool = false) {
        self.interceptor = interceptor
        self.takesForwarded = takesForwarded
        network = interceptor.makeNetwork(configuration)
        stations = interceptor.makeStations(network)
        protocolClass = BindingTable.shared.makeClass()
        BindingTable.shared.add(.one(BindingTable.WeakBinding(self)), for: protocolClass)
    }

    /// Whether the binding takes a request: a pure function of the request.
    func claims(_ request: URLRequest) -> Bool {
        takesForwarded ? interceptor.claimsForwarded(request) : interceptor.claims(request)
    }

    /// Sends a task's first request past the stations; nil when no rule takes it and it is no external link.
    func firstVisit(for request: URLRequest) -> Visit? {
        guard interceptor.isEnabled, takesForwarded || !ForwardingTag.isTagged(request) else { return nil }
        return stations.first(network.completing(request))
    }

    /// Sends an upload with its body past the stations, if its rule has a transport of its own.
    ///
    /// - Returns: Nil for other tasks, and for an upload whose body is a stream of its delegate.
    func carriedVisit(of task: URLSessionTask, _ request: URLRequest) -> Visit? {
        guard type(of: task) == URLSessionUploadTask.self,
            interceptor.matcher.match(request)?.rule.isCarried ?? false
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
        guard !match.rule.reachesNetwork else {
            let isRefused =
                stations.sources.hasOwnTransport && !interceptor.configuration.leavesTasksToFoundation
                && !interceptor.configuration.leavesOtherTasks
            return isRefused ? (Self.passesTransport(task, request), match.index) : nil
        }
        let asked = SourceRequest(request, match.canonical, nil, nil, stations.sources)
        if match.rule.isBlock, case .fail(let error) = asked.verdict(of: match.rule.sources[...]) {
            return (error, match.index)
        }
        return (Self.needsNetwork(task, request), match.index)
    }

    deinit {
        BindingTable.shared.remove(protocolClass)
    }

    /// The binding of a protocol class; nil when the binding is gone, or when none is chosen at present.
    static func of(_ protocolClass: URLProtocol.Type) -> Binding? {
        switch BindingTable.shared.entry(of: protocolClass) {
        case .one(let weak)?: weak.binding
        case .chosen(let choose)?: choose()
        case nil: nil
        }
    }

    /// The binding that is chosen at present for a class whose loads have different bindings; nil for other classes.
    static func chosen(for protocolClass: URLProtocol.Type) -> Binding? {
        guard case .chosen(let choose)? = BindingTable.shared.entry(of: protocolClass) else { return nil }
        return choose()
    }

    /// Whether the loads of a class have different bindings.
    static func areChosen(for protocolClass: AnyClass) -> Bool {
        guard let protocolClass = protocolClass as? URLProtocol.Type,
            case .chosen? = BindingTable.shared.entry(of: protocolClass)
        else { return false }
        return true
    }

    /// Makes a protocol class whose binding is chosen for each load.
    ///
    /// - Parameter choose: Chooses the binding; called in the Swift task that begins the load, under a lock of the whole
    ///   process.
    /// - Returns: The class, which is in use as long as the process runs.
    static func makeClass(choose: @escaping @Sendable () -> Binding?) -> URLProtocol.Type {
        let protocolClass = BindingTable.shared.makeClass()
        BindingTable.shared.add(.chosen(choose), for: protocolClass)
        return protocolClass
    }
}

/// The errors of tasks that only Foundation could load, and that must not be left to it.
extension Binding {
    /// The error for a task that only Foundation could load, from the network, when the task's rule forbids the
    /// network.
    private static func needsNetwork(_ task: URLSessionTask, _ request: URLRequest) -> URLError {
        let what = task is URLSessionDownloadTask ? noFile : "a \(type(of: task)) needs the network"
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            "the rule for \(name(of: request)) keeps loads from the network, and \(what)",
            underlying: WaystationError(.downloadUnavailable, what)
        )
    }

    /// The error for a task that only Foundation could load, when the app has a transport of its own.
    private static func passesTransport(_ task: URLSessionTask, _ request: URLRequest) -> URLError {
        let message = """
            \(name(of: request)) was not loaded: only Foundation can load a \(type(of: task)), and it would \
            bypass the transport that makeTransport made. Use a data task, or set leavesTasksToFoundation
            """
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            message,
            underlying: WaystationError(.transportNeedsDataTask, message)
        )
    }

    private static func name(of request: URLRequest) -> String { request.url?.shown ?? "the file" }

    private static let noFile = """
        this version of Foundation gives a custom protocol no way to pass a file to a download task: load it with a \
        data task, data(for:) for instance, and write the bytes yourself
        """
}

/// Maps protocol classes to their bindings.
private final class BindingTable: Sendable {
    static let shared = BindingTable()

    enum Entry {
        case one(WeakBinding)
        case chosen(@Sendable () -> Binding?)
    }

    /// A box for the weak reference, because copying a weak reference costs far more than retaining a box.
    final class WeakBinding: Sendable {
        weak let binding: Binding?

        init(_ binding: Binding) { self.binding = binding }
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    private let count = Atomic(0)

    func makeClass() -> URLProtocol.Type {
        PhantomNumber.protocolClass(count.add(1, ordering: .relaxed).newValue)
    }

    func add(_ entry: Entry, for protocolClass: URLProtocol.Type) {
        entries.withLock { $0[ObjectIdentifier(protocolClass)] = entry }
    }

    func remove(_ protocolClass: URLProtocol.Type) {
        entries.withLock { $0[ObjectIdentifier(protocolClass)] = nil }
    }

    func entry(of protocolClass: URLProtocol.Type) -> Entry? {
        entries.withLock { $0[ObjectIdentifier(protocolClass)] }
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

/// The binding that was chosen for a task before its protocol was made, with the visit that was made for it.
///
/// It reaches the protocol in the place of a cached response, as a ``PreparedVisit`` does.
///
/// `@unchecked Sendable` because the superclass is; the properties added here are constants.
final class ChosenBinding: CachedURLResponse, @unchecked Sendable {
    let binding: Binding
    let prepared: CachedURLResponse?

    init(_ binding: Binding, _ prepared: CachedURLResponse?) {
        self.binding = binding
        self.prepared = prepared
        super.init(response: PreparedVisit.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// Choices are never archived.
    required init?(coder: NSCoder) { nil }
}

/// A visit of the stations that was made before the task's protocol was.
///
/// It reaches the protocol by public means: as the cached response that a session passes from its cache to the
/// protocol.
///
/// `@unchecked Sendable` because the superclass is; the properties added here are constants and atomics.
final class PreparedVisit: CachedURLResponse, @unchecked Sendable {
    private let prepared: Visit
    private let visits: VisitsUnderWay
    private let isUnderWay = Atomic(true)
    private let isOutdated = Atomic(false)

    /// Makes the visit of a task that has begun among the visits, and ends there.
    init(_ visit: Visit, in visits: VisitsUnderWay) {
        prepared = visit
        self.visits = visits
        super.init(response: Self.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// The visit, for the protocol that has been started; nil if it is outdated.
    func take() -> Visit? {
        end()
        return isOutdated.load(ordering: .relaxed) ? nil : prepared
    }

    /// Ends the visit without an effect: the task was suspended, and its answer may be stale when it is resumed.
    func expire() {
        isOutdated.store(true, ordering: .relaxed)
        end()
    }

    // The session may drop a task without starting its protocol.
    deinit { end() }

    /// Removes the task from the visits under way.
    ///
    /// Call it when the session has called the protocol or dropped the task.
    func end() {
        if isUnderWay.exchange(false, ordering: .relaxed) { visits.end() }
    }

    /// Visits are never archived.
    required init?(coder: NSCoder) { nil }

    /// A cached response must have one; it is never read.
    static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
}
