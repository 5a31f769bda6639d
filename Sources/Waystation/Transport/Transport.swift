package import HTTPTypes
import Synchronization
public import WaystationFoundation
import WaystationHTTP

/// The network, as the interceptor sees it: one request out, one response in.
///
/// A transport performs exactly one exchange for each request. It follows no redirects, answers no challenges and keeps
/// neither a cache nor cookies: the interceptor does that, in the same way for every transport. The default is
/// ``URLSessionTransport``; tests use a scripted one.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once.
    ///
    /// - Parameters:
    ///   - request: The request to send. Its `timeoutInterval` bounds the silence between two arrivals, in seconds. A
    ///     body stream is fresh: a request that is sent again has a new one.
    ///   - receiver: Gets the response: at most one head, then body parts in order, then one end. Calls are made one at
    ///     a time, on any thread, and none is made after the end or after a cancel took effect.
    /// - Returns: The exchange, which can be cancelled.
    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange

    /// Whether ``start(_:receiver:)`` may be called on any queue, also on those of a `URLSession`; false by default.
    ///
    /// With false it is called on a global queue, which costs a change of threads. A transport that makes tasks of a
    /// `URLSession` must leave it false: on Linux a task that is made within another session's queue ends the process.
    var startsOnAnyQueue: Bool { get }

    /// Whether the transport can carry a request; true by default.
    ///
    /// A request that it cannot carry is sent by a ``URLSessionTransport`` of the same configuration.
    func canCarry(_ request: URLRequest) -> Bool
}

extension Transport {
    /// False: the transport is started on a global queue.
    public var startsOnAnyQueue: Bool { false }

    /// True for every request.
    public func canCarry(_ request: URLRequest) -> Bool { true }
}

/// A running exchange.
public protocol TransportExchange: Sendable {
    /// Stops the traffic; the receiver gets no more calls, or an end with `URLError.cancelled`.
    func cancel()

    /// Stops reading from the network until ``resume()``, because the receiver's bytes wait to be taken.
    ///
    /// Parts that were already read may still arrive. The server's time-out rests meanwhile. By default it does nothing.
    func pause()

    /// Continues reading after ``pause()``; does nothing otherwise.
    func resume()
}

extension TransportExchange {
    /// Does nothing: the transport reads on.
    public func pause() {}

    /// Does nothing.
    public func resume() {}
}

/// The receiver to which a transport delivers the response.
public protocol TransportReceiver: Sendable {
    /// The head arrived.
    ///
    /// Only final statuses are delivered, redirects and refusals included.
    func transportDidReceive(_ head: ResponseHead)
    /// A part of the body arrived; it is decoded if the transport decodes content codings.
    func transportDidReceive(_ part: Data)
    /// A part of the request's body was sent; the counts are in bytes.
    func transportDidSend(_ count: Int64, total: Int64, expected: Int64)
    /// The exchange ended: complete when `error` is nil, otherwise broken off.
    ///
    /// A body that is shorter than the response's own framing says is an error, never a normal end.
    func transportDidEnd(_ error: (any Error)?)
}

extension TransportReceiver {
    /// Ignores the progress of the request's body.
    public func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {}
}

/// A transport that sends a body while the rest of it is still arriving, and blocks no thread meanwhile.
///
/// Other transports get a request when its whole body is there: Foundation reads streams on the queue that all sessions
/// share, where a stream that waits stops every load.
package protocol BodyAwaitingTransport: Transport {}

/// A body stream from which a fresh one can be made, so that its request can be sent more than once.
package protocol RewindableStream: InputStream {
    /// A new stream that reads the body from the beginning.
    var rewound: InputStream { get }
    /// The length of the whole body, in bytes.
    var length: Int { get }
    /// Whether the whole body is there, so that no read waits for bytes.
    var isWhole: Bool { get }
    /// Runs work as soon as a read returns without waiting for bytes: at once or later, on any thread.
    func whenReadable(_ work: @escaping @Sendable () -> Void)
    /// Runs work as soon as the whole body is there, or will never be: at once or later, on any thread.
    func whenWhole(_ work: @escaping @Sendable () -> Void)
}

extension URLRequest {
    /// The request with its body rewound to the beginning, so that the request can be sent once more.
    package var rewound: URLRequest {
        guard let stream = httpBodyStream as? any RewindableStream else { return self }
        var request = self
        request.httpBodyStream = stream.rewound
        return request
    }

    /// Whether the body can be sent any number of times.
    package var isRepeatable: Bool { httpBodyStream.map { $0 is any RewindableStream } ?? true }
}

extension URLError {
    /// Makes an error that names the URL in the same way as Foundation's own errors, under both of its keys.
    ///
    /// - Parameters:
    ///   - code: The code that Foundation reports in the same situation.
    ///   - url: The URL that cannot be loaded; nil for none.
    ///   - message: The description, which says what happened: without one, Foundation says only that the operation could
    ///     not be completed.
    ///   - underlying: The cause.
    package init(_ code: Code, failing url: URL?, _ message: String, underlying: (any Error)? = nil) {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
            info["NSErrorFailingURLStringKey"] = url.absoluteString
        }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        self.init(_nsError: NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: info))
    }

    /// The error of a load whose delegate has cancelled a challenge.
    package static func cancelledChallenge(of url: URL?) -> URLError {
        let server = url?.host.map { " of the server \($0.shown())" } ?? ""
        return URLError(.cancelled, failing: url, "the delegate cancelled the challenge\(server) for credentials")
    }

    /// The error of an exchange that ended in order but without a response.
    package static func missingHead(of url: URL?) -> URLError {
        URLError(.badServerResponse, failing: url, "the exchange ended without a response: the transport sent no head")
    }

    /// The error of a load whose response Foundation cannot make.
    package static func invalidHead(of url: URL?) -> URLError {
        URLError(.badServerResponse, failing: url, "the head of the response is not valid")
    }
}

/// The head of a response: its URL, its status and its fields.
///
/// Making an `HTTPURLResponse` takes as long as several other steps of a load. So one is made only when a task gets it,
/// and only once: copies of a head share it.
///
/// The bytes of a value are opaque (RFC 9110 §5.5). A value in UTF-8 is the text that it spells; of any other value,
/// each byte is the character of ISO 8859-1. Waystation keeps the bytes of such a value beside that text, so that it
/// stores and sends back what came.
public struct ResponseHead: Sendable {
    /// The parts of a head, and the values that were made of them.
    private final class Parts: Sendable {
        private struct Made {
            var response: HTTPURLResponse?
            var message: HTTPResponse?
            var translation: (any AnyObject & Sendable)?
        }

        let url: URL
        let statusCode: Int
        let fields: [String: String]
        let setCookies: [String]?
        private let made = Mutex(Made())

        init(_ url: URL, _ statusCode: Int, _ fields: [String: String], _ setCookies: [String]?) {
            self.url = url
            self.statusCode = statusCode
            self.fields = fields
            self.setCookies = setCookies
        }

        /// The response; nil if Foundation makes none of the parts.
        var response: HTTPURLResponse? {
            if let response = made.withLock(\.response) { return response }
            let new = KnownResponses.shared.response(url, statusCode, fields)
            return made.withLock { made in
                if made.response == nil { made.response = new }
                return made.response
            }
        }

        var message: HTTPResponse {
            if let message = made.withLock(\.message) { return message }
            let new = HTTPResponse(statusCode, fields.shown, setCookies)
            made.withLock { $0.message = new }
            return new
        }

        func translated<Translation: AnyObject & Sendable>(_ make: () -> Translation) -> Translation {
            if let translation = made.withLock(\.translation) as? Translation { return translation }
            let new = make()
            let old = made.withLock { made in
                defer { made.translation = new }
                return made.translation
            }
            withExtendedLifetime(old) {}
            return new
        }
    }

    private enum Form: Sendable {
        case response(HTTPURLResponse)
        case parts(Parts)
    }

    private let form: Form
    /// Whether the body may be cut without an error if no field says where it ends.
    ///
    /// Foundation reports none for an HTTP/2 stream that its server resets with NO_ERROR, nor for a TLS connection that
    /// ends without close_notify.
    package var hidesCuts = false

    /// Makes a head of a response of Foundation's.
    public init(_ response: HTTPURLResponse) { form = .response(response) }

    /// Makes a head of its parts.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - statusCode: The status, from 100 to 999.
    ///   - fields: One value for each name, as in `HTTPURLResponse`: the values of a repeated field are joined by a comma
    ///     and a space (RFC 9110 §5.3). The spellings of two names differ in more than their case.
    public init(url: URL, statusCode: Int, fields: [String: String]) {
        self.init(url: url, statusCode: statusCode, fields: fields, setCookieFields: nil)
    }

    /// Makes a head of its parts, with each `Set-Cookie` field as it arrived.
    package init(url: URL, statusCode: Int, fields: [String: String], setCookieFields: [String]?) {
        form = .parts(Parts(url, statusCode, fields, setCookieFields))
    }

    /// The values of the `Set-Cookie` fields, in their order; nil if only their joined value is known.
    ///
    /// A cookie may contain a comma, so the joined value does not always show where a cookie ends.
    package var setCookieFields: [String]? {
        guard case .parts(let parts) = form else { return nil }
        return parts.setCookies
    }

    /// The URL of the request.
    public var url: URL? {
        switch form {
        case .response(let response): response.url
        case .parts(let parts): parts.url
        }
    }

    /// The status.
    public var statusCode: Int {
        switch form {
        case .response(let response): response.statusCode
        case .parts(let parts): parts.statusCode
        }
    }

    /// The fields, by name.
    public var fields: [String: String] {
        switch form {
        case .response(let response): KnownResponses.shared.fields(of: response)
        case .parts(let parts): parts.fields.shown
        }
    }

    /// The fields, by name, with the bytes of their values as ``FieldText`` holds them.
    package var rawFields: [String: String] {
        switch form {
        case .response(let response): (response as? RawFieldsResponse)?.rawFields ?? fields
        case .parts(let parts): parts.fields
        }
    }

    /// The value of a field; names are compared without regard to case (RFC 9110 §5.1).
    public func value(forHTTPHeaderField name: String) -> String? {
        switch form {
        case .response(let response): response.value(forHTTPHeaderField: name)
        case .parts: rawValue(forHTTPHeaderField: name).map(FieldText.shown)
        }
    }

    /// The value of a field, with its bytes as ``FieldText`` holds them.
    package func rawValue(forHTTPHeaderField name: String) -> String? {
        let fields: [String: String]
        switch form {
        case .response(let response):
            guard let raw = (response as? RawFieldsResponse)?.rawFields else {
                return response.value(forHTTPHeaderField: name)
            }
            fields = raw
        case .parts(let parts): fields = parts.fields
        }
        if let value = fields[name] { return value }
        return fields.first { $0.key.equalsIgnoringCase(name) }?.value
    }

    /// The head as Foundation has it; nil if Foundation makes none of these values.
    ///
    /// The object is made with the first call; later calls, and copies of the head, return the same one.
    public var response: HTTPURLResponse? {
        switch form {
        case .response(let response): response
        case .parts(let parts): parts.response
        }
    }

    /// The head as an HTTP message, with each `Set-Cookie` field apart if they are known.
    ///
    /// If the head was made of its parts, the message is made with the first call.
    package var message: HTTPResponse {
        switch form {
        case .response(let response): HTTPResponse(response.statusCode, fields, nil)
        case .parts(let parts): parts.message
        }
    }

    /// The head in the form of another client.
    ///
    /// If the head was made of its parts, it is translated with the first call.
    package func translated<Translation: AnyObject & Sendable>(
        _ translate: (HTTPResponse) -> Translation
    ) -> Translation {
        switch form {
        case .response: translate(message)
        case .parts(let parts): parts.translated { translate(parts.message) }
        }
    }

    /// The object of which all copies of the head share one: while it lives, no other head has it.
    package var identity: any AnyObject & Sendable {
        switch form {
        case .response(let response): response
        case .parts(let parts): parts
        }
    }

    /// The same head with another value of a field, whatever the case of its name was.
    package func setting(_ name: String, to value: String) -> ResponseHead {
        guard let url else { return self }
        var fields = rawFields
        fields.set(name, to: value)
        let isSetCookie = name.equalsIgnoringCase("Set-Cookie")
        return replacing(url, fields, isSetCookie ? nil : setCookieFields)
    }

    /// The same head with another URL.
    package func with(_ url: URL) -> ResponseHead { replacing(url, rawFields, setCookieFields) }

    private func replacing(_ url: URL, _ fields: [String: String], _ setCookies: [String]?) -> ResponseHead {
        var head = ResponseHead(url: url, statusCode: statusCode, fields: fields, setCookieFields: setCookies)
        head.hidesCuts = hidesCuts
        return head
    }
}

extension HTTPResponse {
    fileprivate init(_ statusCode: Int, _ fields: [String: String], _ setCookies: [String]?) {
        var fields = HTTPFields(fields)
        if let setCookies {
            fields[.setCookie] = nil
            for value in setCookies where HTTPField.isValidValue(value) {
                fields.append(HTTPField(name: .setCookie, value: value))
            }
        }
        self.init(status: Status(code: min(max(statusCode, 0), 999)), headerFields: fields)
    }
}

extension [String: String] {
    /// Sets a field, whatever the case of its name was: HTTP/2 has names in lower case.
    mutating func set(_ name: String, to value: String) {
        if self[name] == nil, let other = keys.first(where: { $0.equalsIgnoringCase(name) }) { self[other] = nil }
        self[name] = value
    }
}
