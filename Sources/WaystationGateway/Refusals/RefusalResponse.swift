#if Gateway
import NIOCore
import NIOHTTP1

/// The response for a request that the gateway does not serve: a short text.
enum RefusalResponse {
    /// Writes the response without its end.
    static func write(_ refusal: Refusal, to request: HTTPRequestHead, closes: Bool, on channel: any Channel) {
        let text = refusal.message + "\n"
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": "\(text.utf8.count)",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        let status = HTTPResponseStatus(statusCode: refusal.status)
        let version = request.version.major == 1 ? request.version : .http1_1
        let head = HTTPResponseHead(version: version, status: status, headers: headers).saying(closes: closes)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        guard request.method != .HEAD else { return }
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))), promise: nil)
    }

    /// Writes the response, and closes the connection after it.
    static func writeLast(_ refusal: Refusal, to request: HTTPRequestHead, on channel: any Channel) {
        write(refusal, to: request, closes: true, on: channel)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
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
