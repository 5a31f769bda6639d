import WaystationFoundation

/// Starts a load of its own before it answers.
final class LoadingProtocol: AnsweringProtocol {
    static let session = URLSession(configuration: .ephemeral)

    override var parts: [String] { ["arrived"] }

    override func startLoading() {
        Self.session.dataTask(with: request).resume()
        super.startLoading()
    }
}

/// Answers each load by two parts of a body.
final class TwoPartProtocol: AnsweringProtocol {
    override var parts: [String] { ["first", "second"] }
}

/// Answers each load by the body of its request.
final class EchoProtocol: AnsweringProtocol {
    override var parts: [String] { [String(decoding: request.httpBody ?? Data(), as: UTF8.self)] }
}

/// Answers each load when it has read the stream of its request, or fails it with the stream's error.
final class StreamProtocol: AnsweringProtocol {
    override func startLoading() {
        guard let stream = request.httpBodyStream else { return }
        var buffer = [UInt8](repeating: 0, count: 64)
        var count: Int
        repeat { count = stream.read(&buffer, maxLength: buffer.count) } while count > 0
        guard count < 0 else { return super.startLoading() }
        client?.urlProtocol(self, didFailWithError: stream.streamError ?? URLError(.requestBodyStreamExhausted))
    }
}

/// Answers each load by its path, and has one spelling for a tilde in it.
final class CanonicalProtocol: AnsweringProtocol {
    override var parts: [String] { [request.url?.path(percentEncoded: true) ?? ""] }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
        guard let url = request.url else { return request }
        var canonical = request
        canonical.url = URL(string: url.absoluteString.replacing("%7E", with: "~"))
        return canonical
    }
}

/// Answers the loads whose requests it has not marked; others are to pass.
final class MarkingProtocol: AnsweringProtocol {
    private static let mark = "waystation.doctor"

    override var parts: [String] { ["not marked"] }

    override class func canInit(with request: URLRequest) -> Bool { property(forKey: mark, in: request) == nil }

    static func marked(_ request: URLRequest) -> URLRequest {
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        setProperty(true, forKey: mark, in: marked)
        return marked as URLRequest
    }
}

/// Answers each load at once, by one call of the client for each part of a body.
class AnsweringProtocol: URLProtocol {
    /// The parts of the body.
    var parts: [String] { [] }

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        for part in parts { client?.urlProtocol(self, didLoad: Data(part.utf8)) }
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}

/// Reports a redirect for each load of /from.
final class RedirectingProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/from" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url, let next = URL(string: "/to", relativeTo: url),
            let head = HTTPURLResponse(url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: nil)
        else { return }
        client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: head)
    }

    override func stopLoading() {}
}
