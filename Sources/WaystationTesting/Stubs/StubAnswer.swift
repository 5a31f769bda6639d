import Synchronization
import Waystation
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The answer of a stub: a response, an error, or silence.
public struct StubAnswer: Sendable {
    private enum Source: Sendable {
        /// The same events for every request.
        case fixed(ScriptedTransport.Answer)
        /// The same events for every request, made when the stub is asked for the first time, without code of the test.
        case kept(KeptAnswer)
        /// Events that are made for each request, by code of the test or with the contents of a file.
        case made(@Sendable (StubbedRequest) throws -> [ScriptedTransport.Step])
    }

    private let source: Source
    private var delay: [ScriptedTransport.Step] = []

    private init(_ source: Source) { self.source = source }

    private init(_ steps: @escaping @Sendable (StubbedRequest) throws -> [ScriptedTransport.Step]) {
        self.init(.made(steps))
    }

    private init(_ answer: ScriptedTransport.Answer) { self.init(.fixed(answer)) }

    /// The answer to a request, as events of an exchange.
    func answer(to request: StubbedRequest) throws -> ScriptedTransport.Answer {
        var steps = try delay + steps(request)
        // RFC 9110 §9.3.2: a response to HEAD has no content.
        if request.method == "HEAD" { steps.removeAll { if case .part = $0 { true } else { false } } }
        return ScriptedTransport.Answer(steps)
    }

    private func steps(_ request: StubbedRequest) throws -> [ScriptedTransport.Step] {
        switch source {
        case .fixed(let answer): answer.steps
        case .kept(let kept): try kept.answer().steps
        case .made(let make): try make(request)
        }
    }

    /// The answer to a request, if it is one whole response that no code of the test makes.
    func resident(for request: StubbedRequest) -> ResidentResponse? {
        guard delay.isEmpty, request.method != "HEAD" else { return nil }
        switch source {
        case .fixed(let answer): return answer.resident(for: request.url)
        case .kept(let kept): return (try? kept.answer())?.resident(for: request.url)
        case .made: return nil
        }
    }

    /// A response with these bytes, and with a `Content-Length` if `fields` has none.
    public static func status(_ status: Int, fields: [String: String] = [:], body: Data = Data()) -> StubAnswer {
        StubAnswer(.complete(status, fields, body))
    }

    /// `200 OK` with text in UTF-8.
    public static func ok(_ text: String = "", fields: [String: String] = [:]) -> StubAnswer {
        status(200, fields: fields.adding("Content-Type", "text/plain; charset=utf-8"), body: Data(text.utf8))
    }

    /// A response with a value as JSON, encoded with the members of objects in alphabetical order.
    ///
    /// The load fails with an explanation if the value cannot be encoded.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        fields: [String: String] = [:]
    ) -> StubAnswer {
        let make: @Sendable () throws -> ScriptedTransport.Answer = { try .json(value, status, fields) }
        return value is any PlainValue ? StubAnswer(.kept(KeptAnswer(make))) : StubAnswer { _ in try make().steps }
    }

    /// A response with JSON that is written as literals of several kinds: `.json(["place": "Bonn", "celsius": 21])`.
    public static func json(_ value: JSONValue, status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        StubAnswer(.kept(KeptAnswer { try .json(value, status, fields) }))
    }

    /// The bytes of a file, with the media type that its name and its first bytes suggest.
    ///
    /// The file is read for each request; the load fails with an explanation if it cannot be read or has more than
    /// 512 MiB.
    public static func file(_ file: URL, status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        StubAnswer { request in
            let body = try Data(readingFile: file, limit: 512 << 20)
            let type = MediaType.mediaType(
                forFileName: file.lastPathComponent,
                leadingBytes: body.prefix(MediaType.leadingByteCount)
            )
            return ScriptedTransport.Answer.complete(status, fields.adding("Content-Type", type.fieldValue), body).steps
        }
    }

    /// A response whose body arrives in these parts, without a `Content-Length`.
    public static func parts(_ parts: [Data], status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        StubAnswer(ScriptedTransport.Answer([.head(status, fields: fields)] + parts.map { .part($0) } + [.end]))
    }

    /// Text with values of the request in place of the names in braces.
    ///
    /// `{method}` and `{url}` are those of the request, `{path.0}` is the first segment of its path, `{query.page}` a
    /// query item, `{field.Accept}` a header field, and `{json.customer.id}` a value of its body. The load fails with an
    /// explanation if the request lacks a value.
    public static func template(_ template: String, status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        StubAnswer { request in
            let text = try StubTemplate.filled(template, from: request)
            return ScriptedTransport.Answer.complete(status, fields, Data(text.utf8)).steps
        }
    }

    /// A redirect without a body; the location is sent as it stands.
    public static func redirect(_ status: Int = 302, to location: String) -> StubAnswer {
        self.status(status, fields: ["Location": location])
    }

    /// No response: the load fails with this error, which is not sent again.
    public static func failure(_ code: URLError.Code) -> StubAnswer {
        StubAnswer(ScriptedTransport.Answer([.error(URLError(code))]))
    }

    /// A response that breaks off with an error after the first bytes of its body.
    public static func truncated(
        _ body: Data,
        after count: Int,
        status: Int = 200,
        fields: [String: String] = [:],
        error: URLError.Code = .networkConnectionLost
    ) -> StubAnswer {
        let fields = fields.adding("Content-Length", "\(body.count)")
        return StubAnswer(
            ScriptedTransport.Answer(
                [.head(status, fields: fields), .part(Data(body.prefix(count))), .error(URLError(error))]
            )
        )
    }

    /// Silence: the load fails with `URLError.timedOut` when the request's `timeoutInterval` has passed.
    public static var unanswered: StubAnswer { StubAnswer(.unanswered) }

    /// The same answer, which begins after a delay.
    ///
    /// In virtual time, the default of ``Stubs``, the delay passes at once; a delay that is not shorter than the
    /// request's `timeoutInterval` fails the load with `URLError.timedOut`.
    public func delayed(by delay: Duration) -> StubAnswer {
        var answer = self
        answer.delay.insert(.delay(delay), at: 0)
        return answer
    }

    /// The same answer, which begins when the test opens a gate.
    public func held(at gate: ScriptedTransport.Gate) -> StubAnswer {
        var answer = self
        answer.delay.insert(.wait(gate), at: 0)
        return answer
    }
}

/// An answer that is made when it is asked for the first time.
private final class KeptAnswer: Sendable {
    private let make: @Sendable () throws -> ScriptedTransport.Answer
    private let made = Mutex<ScriptedTransport.Answer?>(nil)

    init(_ make: @escaping @Sendable () throws -> ScriptedTransport.Answer) { self.make = make }

    func answer() throws -> ScriptedTransport.Answer {
        if let made = made.withLock({ $0 }) { return made }
        let answer = try make()
        made.withLock { $0 = answer }
        return answer
    }
}

extension ScriptedTransport.Answer {
    /// A response with these bytes, and with a `Content-Length` if `fields` has none.
    fileprivate static func complete(_ status: Int, _ fields: [String: String], _ body: Data) -> Self {
        .status(status, fields: fields.adding("Content-Length", "\(body.count)"), body: body)
    }

    /// A response with a value as JSON.
    fileprivate static func json(_ value: some Encodable, _ status: Int, _ fields: [String: String]) throws -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .complete(status, fields.adding("Content-Type", "application/json"), try encoder.encode(value))
    }

    /// The answer, if it is one whole response whose body is in one part.
    fileprivate func resident(for url: URL) -> ResidentResponse? {
        guard case .head(let status, let fields)? = steps.first, case .end? = steps.last else { return nil }
        let head = ResponseHead(url: url, statusCode: status, fields: fields)
        switch steps.count {
        case 2: return ResidentResponse(head, Data())
        case 3:
            guard case .part(let body) = steps[1] else { return nil }
            return ResidentResponse(head, body)
        default: return nil
        }
    }
}

extension [String: String] {
    /// The fields with this one added, unless a field of the same name is there already.
    fileprivate func adding(_ name: String, _ value: String) -> [String: String] {
        if keys.contains(where: { $0.equalsIgnoringCase(name) }) { return self }
        return merging([name: value]) { own, _ in own }
    }
}

/// A value that is encoded without code of the test.
protocol PlainValue: Encodable {}

extension String: PlainValue {}
extension Int: PlainValue {}
extension Double: PlainValue {}
extension Bool: PlainValue {}
extension JSONValue: PlainValue {}
extension Optional: PlainValue where Wrapped: PlainValue {}
extension Array: PlainValue where Element: PlainValue {}
extension Dictionary: PlainValue where Key == String, Value: PlainValue {}

/// Text with names in braces that stand for values of a request.
enum StubTemplate {
    static func filled(_ template: String, from request: StubbedRequest) throws -> String {
        var result = ""
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            result += rest[..<open]
            // Braces around other text, as in JSON, stand for themselves.
            if let key = Key(name) {
                guard let value = key.value(in: request) else { throw Missing(name: String(name)) }
                result += value
                rest = rest[rest.index(after: close)...]
            } else {
                result += "{"
                rest = rest[rest.index(after: open)...]
            }
        }
        return result + rest
    }

    /// The request lacks a value that a template names.
    struct Missing: Error, CustomStringConvertible {
        let name: String

        var description: String { "the template names {\(name)}, which the request does not have" }
    }

    private enum Key {
        case method
        case url
        case path(Int)
        case query(String)
        case field(String)
        case json(String)

        init?(_ name: Substring) {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count > 1 ? parts[1] : nil) {
            case ("method", nil): self = .method
            case ("url", nil): self = .url
            case ("path", let index?):
                guard let index = Int(index) else { return nil }
                self = .path(index)
            case ("query", let item?): self = .query(item)
            case ("field", let field?): self = .field(field)
            case ("json", let keyPath?): self = .json(keyPath)
            default: return nil
            }
        }

        func value(in request: StubbedRequest) -> String? {
            switch self {
            case .method: request.method
            case .url: request.url.absoluteString
            case .path(let index):
                request.pathSegments.indices.contains(index) ? request.pathSegments[index] : nil
            case .query(let name): request.query(name)
            case .field(let name): request.field(name)
            case .json(let keyPath): request.json(at: keyPath).map { $0.string ?? $0.text }
            }
        }
    }
}
