#if Gateway
import NIOCore
import NIOHTTP1

extension ResponseWriter {
    /// Writes the response for a request that the gateway does not serve, without its end: a short text.
    func write(_ refusal: Refusal, to request: HTTPRequestHead, closes: Bool) {
        let text = refusal.message + "\n"
        var headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": "\(text.utf8.count)",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        let status = HTTPResponseStatus(statusCode: refusal.status)
        if status == .methodNotAllowed { headers.add(name: "Allow", value: Refusal.methods) }
        let version = request.version.major == 1 ? request.version : .http1_1
        let head = HTTPResponseHead(version: version, status: status, headers: headers)
        begin(head.saying(closes: closes), .length(text.utf8.count))
        if request.method != .HEAD { append(text.utf8) }
    }

    /// Writes the response, and closes the connection after it.
    func writeLast(_ refusal: Refusal, to request: HTTPRequestHead) {
        write(refusal, to: request, closes: true)
        end(closes: true)
    }
}

extension HTTPResponseHead {
    /// The head with the field that says whether the connection ends with the response, where the version needs it
    /// (RFC 9112 §9.3).
    func saying(closes: Bool) -> HTTPResponseHead {
        guard closes || version == .http1_0 else { return self }
        var head = self
        head.headers.replaceOrAdd(name: "Connection", value: closes ? "close" : "keep-alive")
        return head
    }
}
#endif
