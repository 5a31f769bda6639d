#if Gateway
import Dispatch
import NIOHTTP1
import Waystation
import WaystationHTTP
import WaystationFoundation
import WaystationPacks
import WaystationRecording
import WaystationStorage

/// A page for developers that shows what an interceptor does: its loads, rules, cache, packs and cookies.
///
/// It observes by a recorder and by the interceptor's events, and reads everything else when it is asked for. Only
/// ``gate`` decides which requests are answered.
final class Inspector: Sendable {
    let gate: InspectorGate
    let log: LoadLog
    private let events: EventLog
    private let interceptor: Interceptor
    private let loads: ClientLoads
    private let names: LocalNames
    /// Reads the cache and the packs' manifests, which may not hold up an event loop.
    private let disk = DispatchQueue(label: "waystation.gateway.inspector.disk")
    /// Makes the texts of the live list, which do not wait for the disk.
    let listing = DispatchQueue(label: "waystation.gateway.inspector.list")

    init(_ interceptor: Interceptor, _ loads: ClientLoads, _ names: LocalNames, _ inspection: Inspection) {
        self.interceptor = interceptor
        self.loads = loads
        self.names = names
        log = inspection.log
        events = inspection.events
        gate = InspectorGate(port: names.port, inspection.secret)
    }

    /// Adds a request that the gateway refused to the list.
    func didRefuse(_ head: HTTPRequestHead, isSecured: Bool, because refusal: Refusal) {
        let now = interceptor.now()
        guard let exchange = RecordedExchange(refusal, to: head, isSecured: isSecured, at: now) else { return }
        log.add(refused: exchange, because: refusal.message)
    }

    /// Answers a request for anything but the stream of loads.
    func response(to route: InspectorRoute) async -> InspectorResponse {
        do { return try await answer(route) } catch let error as Refusal { return InspectorResponse(error) } catch {
            return InspectorResponse(Refusal(status: 500, message: "The inspector cannot read its answer: \(error)"))
        }
    }

    private func answer(_ route: InspectorRoute) async throws -> InspectorResponse {
        switch route {
        case .file(let name):
            guard let file = InspectorFiles.response(name) else { throw Refusal.gone("The file \(name)") }
            return file
        case .loads: throw Refusal.gone("The list")
        case .load(let number):
            guard let load = log.load(number) else { throw Refusal.gone("Load \(number)") }
            // The URL of a refused request is the gateway's own, or one that the gateway does not stand for.
            let next: Interceptor.Explanation? =
                if case .refused = load.ending { nil } else { await loads.explanation(of: load.exchange.request) }
            return try InspectorResponse(LoadDetails(load, interceptor.rules, next: next))
        case .image(let number):
            guard let image = log.load(number).flatMap(BodyPreview.image) else { throw Refusal.gone("The picture") }
            return image
        case .events: return try InspectorResponse(events.latest)
        case .clear:
            log.clear()
            return try InspectorResponse([String: Int]())
        case .archive: return try archive()
        case .rules:
            let warnings = Dictionary(grouping: interceptor.warnings, by: \.rule)
            return try InspectorResponse(
                interceptor.rules.enumerated().map { index, rule in
                    RuleRow(index, rule, (warnings[index] ?? []).map { "\($0)" })
                }
            )
        case .decision(let url, let method): return try await decision(url, method)
        case .cache, .entry, .purge: return try await cache(route)
        case .packs: return try InspectorResponse((interceptor.packs?.modules ?? []).map(ModuleRow.init))
        case .packFiles(let module, let version):
            let pack = try self.module(module).versions.first { $0.version.description == version }
            guard let pack else { throw Refusal.gone("Version \(version) of \(module)") }
            return try await reading { try InspectorResponse(PackContents(pack)) }
        case .rollBack(let module, let version):
            guard let active = try self.module(module).active, active.version.description == version else {
                throw Refusal(
                    status: 409,
                    message: "Version \(version.shown()) of \(module) is not active any more: load the list again."
                )
            }
            let reason = "rolled back in the inspector"
            try await interceptor.packs?.rollBack(active.module, version: active.version, reason: reason)
            return try InspectorResponse(ModuleRow(self.module(module)))
        case .cookies:
            let cookies = (interceptor.cookies?.cookies ?? []).map(CookieRow.init)
            let sorted = cookies.sorted { ($0.domain, $0.path, $0.name) < ($1.domain, $1.path, $1.name) }
            return try InspectorResponse(sorted)
        }
    }

    /// All loads as HAR 1.2, without bodies and secrets.
    private func archive() throws -> InspectorResponse {
        let entries = log.all.map { load in
            var exchange = load.exchange
            // Bodies may have secrets, and the file is made to be passed on.
            exchange.body = nil
            return HARArchive.Entry(exchange, .standard)
        }
        var response = try InspectorResponse(HARArchive(entries: entries))
        response.fields = [("Content-Disposition", "attachment; filename=\"waystation.har\"")]
        return response
    }

    private func decision(_ text: String, _ method: String) async throws -> InspectorResponse {
        guard let url = URL(string: text), let scheme = url.scheme, !scheme.isEmpty, url.host() != nil else {
            throw Refusal(
                status: 400,
                message: "“\(text.shown())” is not an absolute URL: write one such as https://shop.example/app/."
            )
        }
        var request = URLRequest(url: url)
        request.httpMethod = method.isEmpty ? "GET" : method
        let explanation = await loads.explanation(of: request)
        return try InspectorResponse(DecisionRow(explanation, gatewayURL: names.local(url.absoluteString)))
    }

    private func module(_ name: String) throws -> InstalledModule {
        guard let id = ModuleID(name), let module = interceptor.packs?.module(id) else {
            throw Refusal.gone("The module \(name.shown(upTo: 200))")
        }
        return module
    }

    // MARK: - The cache

    private func cache(_ route: InspectorRoute) async throws -> InspectorResponse {
        guard let cache = interceptor.cache else {
            throw Refusal(status: 404, message: "The interceptor has no cache: set Interceptor.Configuration.cache.")
        }
        // Responses that were stored a moment ago are still being written.
        await cache.flush()
        let (rules, now) = (interceptor.cachingRules, interceptor.now())
        switch route {
        case .cache(let search):
            return try await reading {
                try InspectorResponse(CacheListing.read(StoreInspector(directory: cache.directory), search: search))
            }
        case .entry(let id):
            return try await reading {
                let (entry, response) = try Self.stored(id, in: cache)
                return try InspectorResponse(CacheDetails(entry, response.head, now: now, rules))
            }
        case .purge(let id):
            let response = try await reading { try Self.stored(id, in: cache).response }
            return try InspectorResponse(["removed": try await cache.store.remove([response])])
        default: throw Refusal.gone("The cache")
        }
    }

    private static func stored(
        _ id: Int64,
        in cache: ResponseCache
    ) throws -> (entry: StoredEntry, response: StoredResponse) {
        let inspector = try StoreInspector(directory: cache.directory)
        guard let entry = try inspector.entry(id), let response = try inspector.response(entry) else {
            throw Refusal.gone("The stored response")
        }
        return (entry, response)
    }

    /// Runs work that waits for the disk.
    private func reading<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            disk.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}

extension Refusal {
    fileprivate static func gone(_ name: String) -> Refusal {
        Refusal(status: 404, message: "\(name) is not there any more: load the list again.")
    }
}

/// A cookie of the app's store without its value.
struct CookieRow: Encodable, Sendable {
    let domain: String
    let name: String
    let path: String
    let isHostOnly: Bool
    let isSecure: Bool
    let isHTTPOnly: Bool
    let sameSite: String
    /// Nil for a cookie that ends with the session.
    let expires: Date?

    init(_ cookie: Cookie) {
        domain = cookie.domain
        name = cookie.name
        path = cookie.path
        isHostOnly = cookie.isHostOnly
        isSecure = cookie.isSecure
        isHTTPOnly = cookie.isHTTPOnly
        expires = cookie.expires
        sameSite =
            switch cookie.sameSite {
            case .strict: "Strict"
            case .lax: "Lax"
            case .none: "None"
            case .unspecified: "not given"
            }
    }
}

/// A rule as the inspector lists it.
struct RuleRow: Encodable, Sendable {
    let index: Int
    let pattern: String
    /// Nil for all methods.
    let methods: [String]?
    /// Further conditions.
    let conditions: [String]
    /// `block`, or the sources of the answers.
    let action: String
    let needsLogin: Bool
    /// The place in the app's code.
    let location: String?
    let warnings: [String]

    init(_ index: Int, _ rule: Rule, _ warnings: [String]) {
        let definition = rule.definition
        self.index = index
        self.warnings = warnings
        pattern = definition.pattern
        methods = definition.methods?.sorted()
        location = definition.location?.description
        conditions =
            definition.query.map { condition in
                switch condition {
                case .present(let name): "has the query item \(name)"
                case .equals(let name, let value): "has the query item \(name)=\(value)"
                }
            } + (definition.predicate == nil ? [] : ["a condition in code"])
        action = definition.action.route.description
        needsLogin = definition.action.login != nil
    }
}

/// The decision of the rules about a URL.
struct DecisionRow: Encodable, Sendable {
    /// `allowed`, `blocked`, `openedElsewhere` or `untouched`.
    let decision: String
    let rule: Int?
    /// The reasons why no rule takes the request.
    let reasons: [String]
    /// The URL at the gateway; nil if the gateway does not serve the request.
    let gatewayURL: String?
    /// The answer that the request would get now, in a sentence; nil if no rule allows it.
    let next: String?
    /// The arithmetic of the cache behind it, a sentence each.
    let arithmetic: [String]

    init(_ explanation: Interceptor.Explanation, gatewayURL: String?) {
        (decision, rule, reasons) = (explanation.decision, explanation.rule, explanation.reasons)
        let isAllowed = decision == "allowed"
        self.gatewayURL = isAllowed ? gatewayURL : nil
        next = isAllowed ? Redaction.standard.text(explanation.answer) : nil
        arithmetic = explanation.cache?.sentences ?? []
    }
}
#endif
