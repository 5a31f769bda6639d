import HTTPTypes
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

extension DirectClient {
    /// The body of a request.
    public struct RequestBody: Sendable {
        private enum Form: Sendable {
            case none
            case data(Data)
            case file(URL)
            case parts(length: Int?, @Sendable (_ write: (Data) async throws -> Void) async throws -> Void)
        }

        private let form: Form

        /// No body.
        public static let none = RequestBody(form: .none)

        /// Bytes in memory.
        public static func data(_ data: Data) -> RequestBody { RequestBody(form: .data(data)) }

        /// The bytes of a file, which is read as it is sent, and must not change meanwhile.
        public static func file(_ url: URL) -> RequestBody { RequestBody(form: .file(url)) }

        /// The parts of a sequence, in their order.
        ///
        /// They are stored as ``Interceptor/Configuration/bodySpool`` says, so that they can be sent again after a
        /// redirect, a request for credentials or a dropped connection. A body of a stated length that does not fit in
        /// the spool's memory is sent while its parts arrive, if the engine is that on SwiftNIO, and the sequence then
        /// waits for the server; any other body is sent when its last part has arrived. If the sequence throws, the load
        /// ends with that error.
        ///
        /// - Parameters:
        ///   - parts: The parts.
        ///   - length: The number of bytes of all parts; nil if it is not known. With another number of bytes the load
        ///     fails.
        /// - Returns: The body.
        public static func parts<Parts: AsyncSequence & Sendable>(_ parts: Parts, length: Int? = nil) -> RequestBody
        where Parts.Element == Data {
            RequestBody(form: .parts(length: length) { write in for try await part in parts { try await write(part) } })
        }

        var isNone: Bool { if case .none = form { true } else { false } }
    }
}

extension DirectClient.RequestBody {
    /// Adds the body to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - spool: Where parts are stored.
    /// - Returns: The request as soon as it can be sent, and the task that stores the rest of the body; nil if all of it
    ///   is there.
    /// - Throws: `URLError`, or the error of the sequence.
    nonisolated(nonsending) func added(to request: URLRequest, _ spool: BodySpool) async throws -> (URLRequest, rest: Task<Void, Never>?) {
        switch form {
        case .none: return (request, nil)
        case .data(let data):
            var request = request
            request.httpBody = data
            return (request, nil)
        case .file(let file): return (try request.carrying(file, spool.fileSystem), nil)
        case .parts(let length, let forEach):
            let (requests, sendable) = AsyncThrowingStream<URLRequest, any Error>.makeStream()
            let task = Task { await Self.store(length, forEach, for: request, spool, sendable) }
            return try await withTaskCancellationHandler {
                for try await request in requests { return (request, task) }
                throw URLError(.cancelled, failing: request.url, "the task that stores the body was cancelled")
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Stores the parts.
    private static func store(
        _ length: Int?,
        _ forEach: @Sendable (_ write: (Data) async throws -> Void) async throws -> Void,
        for request: URLRequest,
        _ spool: BodySpool,
        _ sendable: AsyncThrowingStream<URLRequest, any Error>.Continuation
    ) async {
        var writer = SpoolWriter(spool)
        var count = 0
        var begun: SpooledBody?
        do {
            try await forEach { part in
                count += part.count
                if let length, count > length { throw wrongLength(count, length, request.url) }
                try writer.append(part)
                try Task.checkCancellation()
                if let begun {
                    await withCheckedContinuation { taken in begun.whenTaken { taken.resume() } }
                } else if let length, let (request, body) = writer.begin(request, length: length) {
                    begun = body
                    sendable.yield(request)
                }
            }
            try Task.checkCancellation()
            if let length, count < length { throw wrongLength(count, length, request.url) }
            if begun == nil { sendable.yield(writer.finish(request)) }
            sendable.finish()
        } catch {
            begun?.stop(error)
            sendable.finish(throwing: error)
        }
    }

    private static func wrongLength(_ count: Int, _ length: Int, _ url: URL?) -> URLError {
        let relation = count > length ? "more than" : "\(count) of"
        let message = "the parts of the body have \(relation) the \(length) bytes that were stated"
        return URLError(.requestBodyStreamExhausted, failing: url, message)
    }
}

extension URLRequest {
    /// Makes a request of an HTTP message.
    ///
    /// - Throws: `URLError.badURL` if the message has no scheme or no authority, or they make no URL.
    init(_ message: HTTPRequest) throws {
        guard let target = message.targetURI, let url = URL(string: target) else {
            let text =
                "a request needs a scheme, an authority and a path that make a URL, such as https, "
                + "shop.example and /prices; this one has \(message.targetURI?.shownURL ?? "no scheme or no authority")"
            throw URLError(.badURL, failing: nil, text)
        }
        self.init(url: url)
        httpMethod = message.method.rawValue
        guard !message.headerFields.isEmpty else { return }
        var fields = message.headerFields.dictionary
        let cookies = message.headerFields[values: .cookie]
        // The pairs of several fields are one list (RFC 9113 §8.2.3).
        if cookies.count > 1 { fields["Cookie"] = cookies.joined(separator: "; ") }
        allHTTPHeaderFields = fields
    }

    /// The request with the bytes of a file as its body.
    fileprivate func carrying(_ file: URL, _ fileSystem: any FileSystem) throws -> URLRequest {
        do {
            try file.checkIsFile(for: "open")
            let opened = try fileSystem.openFile(file.path(percentEncoded: false))
            return carrying(try SpooledBody(reading: opened, fileSystem))
        } catch {
            throw URLError(.fileDoesNotExist, failing: url, "the body cannot be read: \(error)", underlying: error)
        }
    }
}
