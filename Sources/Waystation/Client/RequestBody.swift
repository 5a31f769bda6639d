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
        /// The parts are stored by ``Interceptor/Configuration/bodySpool``, or by a `BodySpool()` if that is nil, so that
        /// they can be sent again after a redirect, a request for credentials or a dropped connection. A body is sent when
        /// its last part has arrived. The engine on SwiftNIO sends a body earlier, while its parts arrive, if its length is
        /// stated and it does not fit in the spool's memory; the sequence then waits for the server, and a sequence that
        /// gives no part for as long as the request's time-out ends the load. If the sequence throws, the load ends with
        /// that error.
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
    ///   - load: The load, which ends if the body cannot be stored; its end stops the storing.
    /// - Returns: The request as soon as it can be sent.
    /// - Throws: `URLError`, or the error of the sequence.
    nonisolated(nonsending) func added(
        to request: URLRequest,
        _ spool: BodySpool,
        in load: DirectLoad
    ) async throws -> URLRequest {
        switch form {
        case .none: return request
        case .data(let data): return request.carrying(data)
        case .file(let file): return try request.carrying(file, spool.fileSystem)
        case .parts(let length, let forEach):
            let (requests, sendable) = AsyncStream<URLRequest>.makeStream()
            let storing = Task { await Self.store(length, forEach, for: request, spool, load, sendable) }
            load.atEnd { storing.cancel() }
            return try await withTaskCancellationHandler {
                for await request in requests { return request }
                throw load.failure ?? URLError.cancelledLoad(of: request.url)
            } onCancel: {
                load.cancel()
            }
        }
    }

    /// Stores the parts, and ends the load if that fails.
    private static func store(
        _ length: Int?,
        _ forEach: @Sendable (_ write: (Data) async throws -> Void) async throws -> Void,
        for request: URLRequest,
        _ spool: BodySpool,
        _ load: DirectLoad,
        _ sendable: AsyncStream<URLRequest>.Continuation
    ) async {
        defer { sendable.finish() }
        var writer = SpoolWriter(spool)
        var count = 0
        // The part that reaches the stated length. It is sent when the sequence has ended after it.
        var last: Data?
        var begun: SpooledBody?
        do {
            try await forEach { part in
                count += part.count
                if let length, count > length { throw wrongLength(count, length, request.url) }
                try Task.checkCancellation()
                if count == length {
                    last = (last ?? Data()) + part
                    return
                }
                try writer.append(part)
                if let begun {
                    await taken(begun)
                } else if let length, let (request, body) = writer.begin(request, length: length) {
                    begun = body
                    sendable.yield(request)
                }
            }
            try Task.checkCancellation()
            if let length, count < length { throw wrongLength(count, length, request.url) }
            if let last { try writer.append(last) }
            if begun == nil { sendable.yield(writer.finish(request)) }
        } catch {
            begun?.stop(error)
            load.stop(failure(error, of: request.url))
        }
    }

    /// Waits until the readers have most of the bytes so far, or the task is cancelled.
    private static func taken(_ body: SpooledBody) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { taken in body.whenTaken { taken.resume() } }
        } onCancel: {
            body.stop(CancellationError())
        }
    }

    /// The error of a load whose body cannot be stored.
    private static func failure(_ error: any Error, of url: URL?) -> any Error {
        switch error {
        case is CancellationError: return URLError.cancelledLoad(of: url)
        case is FileError:
            let message = "the body of the request for \(url?.shown ?? "the URL") cannot be stored: \(error)"
            return URLError(.cannotCreateFile, failing: url, message, underlying: error)
        default: return error
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
            // The app's own file may be a link.
            let path = file.resolvingSymlinksInPath().path(percentEncoded: false)
            return carrying(try SpooledBody(reading: try fileSystem.openFile(path), fileSystem))
        } catch {
            let code: URLError.Code = (error as? FileError)?.code == ENOENT ? .fileDoesNotExist : .cannotOpenFile
            throw URLError(code, failing: url, "the body cannot be read: \(error)", underlying: error)
        }
    }
}
