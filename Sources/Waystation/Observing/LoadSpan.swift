import WaystationFoundation
import WaystationHTTP
import WaystationStorage

#if Tracing
import Synchronization
import Tracing

/// Spans of loads and of their exchanges, with OpenTelemetry's attributes of HTTP clients.
///
/// Names of attributes: https://opentelemetry.io/docs/specs/semconv/http/http-spans/.
struct LoadTracer: Sendable {
    private let tracer: any Tracer

    init(_ tracer: any Tracer) { self.tracer = tracer }

    /// Begins the span of a load.
    ///
    /// Its parent is the context of the task that called the client. A task of Foundation's does not keep it: if there is no
    /// context, the parent is the one that the fields of the request name.
    func begin(_ request: URLRequest, rule: Int?) -> LoadSpan {
        var parent = ServiceContext.current
        if parent == nil {
            var extracted = ServiceContext.topLevel
            tracer.extract(request.allHTTPHeaderFields ?? [:], into: &extracted, using: FieldExtractor())
            parent = extracted
        }
        let span = LoadSpan(tracer, request, under: parent ?? .topLevel)
        if let rule { span.set("waystation.rule", to: .int64(Int64(rule))) }
        return span
    }
}

/// The span of a load, or of one of its exchanges with an origin.
final class LoadSpan: Sendable {
    private let tracer: any Tracer
    private let span: any Span
    private let hasEnded = Atomic(false)

    fileprivate init(_ tracer: any Tracer, _ request: URLRequest, under parent: ServiceContext) {
        self.tracer = tracer
        let method = request.httpMethod ?? "GET"
        span = tracer.startSpan(method, context: parent, ofKind: .client)
        set("http.request.method", to: .string(method))
        guard let url = request.url else { return }
        // Without user information and the values of a query.
        set("url.full", to: .string(url.shown))
        if let host = url.host { set("server.address", to: .string(host)) }
        if let port = url.port ?? url.scheme.flatMap({ KnownScheme($0.utf8)?.defaultPort }) {
            set("server.port", to: .int64(Int64(port)))
        }
    }

    fileprivate func set(_ name: String, to value: SpanAttribute) { span.attributes[name] = value }

    /// Begins the span of an exchange with an origin, and puts its context into the fields of the request.
    func beginExchange(_ request: inout URLRequest) -> LoadSpan {
        let exchange = LoadSpan(tracer, request, under: span.context)
        let isConditional = ["If-None-Match", "If-Modified-Since"].contains {
            request.value(forHTTPHeaderField: $0) != nil
        }
        exchange.set("waystation.exchange", to: .string(isConditional ? "revalidation" : "fetch"))
        tracer.inject(exchange.span.context, into: &request, using: FieldInjector())
        return exchange
    }

    /// The head of the response has arrived.
    func take(_ head: ResponseHead) {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        set("http.response.status_code", to: .int64(Int64(head.statusCode)))
        if let status = head.value(forHTTPHeaderField: "Cache-Status") {
            set("waystation.cache_status", to: .string(status.shown(upTo: 200)))
        }
        guard head.statusCode >= 400 else { return }
        set("error.type", to: .string("\(head.statusCode)"))
        span.setStatus(SpanStatus(code: .error))
    }

    /// An event of the load; most events end it.
    func take(_ event: LoadEvent.Kind) {
        switch event {
        case .served(let source, let status, let bytes):
            set("http.response.status_code", to: .int64(Int64(status)))
            set("http.response.body.size", to: .int64(Int64(bytes)))
            set("waystation.source", to: .string(source.description))
            end(nil)
        case .failed(let error): end(error)
        case .cancelled: end(URLError(.cancelled))
        case .blocked:
            set("waystation.source", to: .string("blocked"))
            end(URLError(.resourceUnavailable))
        case .openedElsewhere:
            set("waystation.source", to: .string("external"))
            end(nil)
        case .handedBack(let reason): span.addEvent(SpanEvent(name: "handed back: \(reason)"))
        default: break
        }
    }

    /// Ends the span; only the first end counts.
    func end(_ error: (any Error)?) {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        if let error {
            set("error.type", to: .string((error as? URLError).map { "URLError.\($0.code.rawValue)" } ?? "_OTHER"))
            span.setStatus(SpanStatus(code: .error, message: error.localizedDescription.shown(upTo: 200)))
        }
        span.end()
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into request: inout URLRequest) {
        request.setValue(value, forHTTPHeaderField: key)
    }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: [String: String]) -> String? {
        fields[key] ?? fields.first { $0.key.equalsIgnoringCase(key) }?.value
    }
}
#else
/// Loads have spans only with the trait `Tracing`; no value of this type exists without it.
enum LoadTracer: Sendable {
    func begin(_ request: URLRequest, rule: Int?) -> LoadSpan { switch self {} }
}

/// See ``LoadTracer``.
enum LoadSpan: Sendable {
    func beginExchange(_ request: inout URLRequest) -> LoadSpan { switch self {} }
    func take(_ head: ResponseHead) {}
    func take(_ event: LoadEvent.Kind) {}
    func end(_ error: (any Error)?) {}
}
#endif
