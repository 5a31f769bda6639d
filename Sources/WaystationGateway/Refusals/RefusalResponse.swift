#if Gateway
import NIOCore
import NIOHTTP1

/// The response for a request that the gateway does not serve: a short text.
enum RefusalResponse {
    static func write(
        _ refusal: Refusal,
        to method: HTTPMethod,
        _ version: HTTPVersion,
        isKeptAlive: Bool,
        on channel: any Channel
    ) {
        let closes = refusal.closes || !isKeptAlive
        let text = refusal.message + "\n"
        let headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": "\(text.utf8.count)",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        let head = HTTPResponseHead(
            version: version.major == 1 ? version : .http1_1,
            status: HTTPResponseStatus(statusCode: refusal.status),
            headers: headers
        )
        channel.write(HTTPServerResponsePart.head(head.saying(isKeptAlive: !closes)), promise: nil)
        if method != .HEAD {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in
            if closes { channel.close(promise: nil) }
        }
    }
}
#endif
