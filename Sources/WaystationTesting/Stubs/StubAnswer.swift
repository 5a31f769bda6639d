public import Foundation
import FoundationNetworking
import WaystationFiles

/// The answer of a stub: a response, an error, or silence.
public struct StubAnswer: Sendable {
    private let steps: @Sendable (StubbedRequest) throws -> [ScriptedTransport.Step]
    private var delay: [ScriptedTransport.Step] = []

    init(_ steps: @escaping @Sendable (StubbedRequest) throws -> [ScriptedTransport.Step]) { self.steps = steps }

    private init(_ answer: ScriptedTransport.Answer) {
        let steps = answer.steps
        self.init { _ in steps }
    }

    /// The answer to a request, as events of an exchange.
    func answer(to request: StubbedRequest) throws -> ScriptedTransport.Answer {
        var steps = try delay + steps(request)
        // RFC 9110 §9.3.2: a response to HEAD has no content.
        if request.method == "HEAD" { steps.removeAll { if case .part = $0 { true } else { false } } }
        return ScriptedTransport.Answer(steps)
    }

    /// A response with these bytes, and with a `Content-Length` if `fields` has none.
    public static func status(_ status: Int, fields: [String: String] = [:], body: Data = Data()) -> StubAnswer {
        StubAnswer(.status(status, fields: fields.adding("Content-Length", "\(body.count)"), body: body))
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
        encoded(value, status, fields)
    }

    /// A response with JSON that is written as literals of several kinds: `.json(["place": "Bonn", "celsius": 21])`.
    public static func json(_ value: JSONValue, status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        encoded(value, status, fields)
    }

    private static func encoded(
        _ value: some Encodable & Sendable,
        _ status: Int,
        _ fields: [String: String]
    ) -> StubAnswer {
        StubAnswer { request in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let body = try encoder.encode(value)
            let answer = self.status(status, fields: fields.adding("Content-Type", "application/json"), body: body)
            return try answer.steps(request)
        }
    }

    /// The bytes of a file, with the media type that its name and its first bytes suggest.
    ///
    /// The file is read for each request; the load fails with an explanation if it cannot be read.
    public static func file(_ file: URL, status: Int = 200, fields: [String: String] = [:]) -> StubAnswer {
        StubAnswer { request in
            let body = try Data(contentsOf: file)
            let type = MediaType.mediaType(
                forFileName: file.lastPathComponent,
                leadingBytes: body.prefix(MediaType.leadingByteCount)
            )
            let answer = self.status(status, fields: fields.adding("Content-Type", type.fieldValue), body: body)
            return try answer.steps(request)
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
            return try self.status(status, fields: fields, body: Data(text.utf8)).steps(request)
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

extension [String: String] {
    /// The fields with one more, unless they have it already.
    fileprivate func adding(_ name: String, _ value: String) -> [String: String] {
        if keys.contains(where: { $0.caseInsensitiveCompare(name) == .orderedSame }) { return self }
        return merging([name: value]) { own, _ in own }
    }
}
