public import Foundation

extension HARArchive {
    /// One exchange.
    public struct Entry: Sendable, Hashable {
        /// When the request began; nil when the file has no readable time.
        public var started: Date?
        /// How long the whole exchange took, in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response; its status is 0 when no response came.
        public var response: Response
        /// How the time was divided.
        public var timings: Timings
        /// The source of the response, such as `cache` (`_servedFrom`).
        public var source: String?
        /// A comment.
        public var comment: String?
        /// The position among the exchanges with the same request, from 0, as Polly.js writes it (`_order`).
        public var order: Int?

        /// Makes an exchange.
        public init(
            started: Date?,
            time: Double = 0,
            request: Request,
            response: Response,
            timings: Timings = Timings(),
            source: String? = nil,
            comment: String? = nil
        ) {
            self.started = started
            self.time = time
            self.request = request
            self.response = response
            self.timings = timings
            self.source = source
            self.comment = comment
        }
    }

    /// Durations in milliseconds; -1 means unknown.
    public struct Timings: Sendable, Hashable, Encodable {
        /// The time spent waiting for a connection.
        public var blocked: Double
        /// The time spent looking up the host.
        public var dns: Double
        /// The time spent connecting.
        public var connect: Double
        /// The time of the TLS handshake, a part of ``connect``.
        public var ssl: Double
        /// The time spent sending the request.
        public var send: Double
        /// The time spent waiting for the response.
        public var wait: Double
        /// The time spent reading the response.
        public var receive: Double

        /// Makes durations.
        public init(
            blocked: Double = -1,
            dns: Double = -1,
            connect: Double = -1,
            ssl: Double = -1,
            send: Double = 0,
            wait: Double = 0,
            receive: Double = 0
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.ssl = ssl
            self.send = send
            self.wait = wait
            self.receive = receive
        }
    }

    /// The request of an exchange.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The absolute URL, without its fragment.
        public var url: String
        /// The protocol's version, such as `HTTP/1.1`.
        public var httpVersion: String
        /// The cookies that were sent.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [Pair]
        /// The items of the URL's query, decoded.
        public var queryString: [Pair]
        /// The body; nil when there is none.
        public var postData: PostData?
        /// The size of the body as sent, in bytes; -1 means unknown.
        public var bodySize: Int

        /// Makes a request.
        public init(
            method: String,
            url: String,
            httpVersion: String = "HTTP/1.1",
            cookies: [Cookie] = [],
            headers: [Pair] = [],
            queryString: [Pair] = [],
            postData: PostData? = nil,
            bodySize: Int = -1
        ) {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
            self.cookies = cookies
            self.headers = headers
            self.queryString = queryString
            self.postData = postData
            self.bodySize = bodySize
        }
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable {
        /// The body's media type.
        public var mimeType: String
        /// The body's text.
        public var text: String
        /// `base64` when the text is the bytes in Base64 (`_encoding`).
        public var encoding: String?

        /// Makes a body.
        public init(mimeType: String, text: String, encoding: String? = nil) {
            self.mimeType = mimeType
            self.text = text
            self.encoding = encoding
        }
    }

    /// The response of an exchange.
    public struct Response: Sendable, Hashable {
        /// The status; 0 when no response came.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The protocol's version.
        public var httpVersion: String
        /// The cookies that the response sets.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// The value of `Location`; empty when there is none.
        public var redirectURL: String
        /// The size of the body as received, in bytes; -1 means unknown.
        public var bodySize: Int
        /// The reason why no response came, as browsers name it, such as `net::ERR_CONNECTION_REFUSED` (`_error`).
        public var error: String?

        /// Makes a response.
        public init(
            status: Int,
            statusText: String = "",
            httpVersion: String = "HTTP/1.1",
            cookies: [Cookie] = [],
            headers: [Pair] = [],
            content: Content = Content(),
            redirectURL: String = "",
            bodySize: Int = -1
        ) {
            self.status = status
            self.statusText = statusText
            self.httpVersion = httpVersion
            self.cookies = cookies
            self.headers = headers
            self.content = content
            self.redirectURL = redirectURL
            self.bodySize = bodySize
        }
    }

    /// The body of a response, without content coding.
    public struct Content: Sendable, Hashable {
        /// The size in bytes; -1 means unknown.
        public var size: Int
        /// The media type.
        public var mimeType: String
        /// The text, or the bytes in Base64; nil when the file does not have the body.
        public var text: String?
        /// `base64` when ``text`` is Base64.
        public var encoding: String?
        /// Whether ``text`` is only a part of the body (`_truncated`).
        public var isTruncated: Bool
        /// The path of a file with the body, relative to the folder of the HAR file (`_file`).
        public var file: String?
        /// Whether ``text`` has bytes as Polly.js writes them (`_isBinary`): in the encoding, or in hexadecimal digits
        /// without one; several parts are a JSON array.
        public var isBinary = false
        /// A comment.
        public var comment: String?

        /// Makes a body.
        public init(
            size: Int = 0,
            mimeType: String = "x-unknown",
            text: String? = nil,
            encoding: String? = nil,
            isTruncated: Bool = false,
            comment: String? = nil
        ) {
            self.size = size
            self.mimeType = mimeType
            self.text = text
            self.encoding = encoding
            self.isTruncated = isTruncated
            self.comment = comment
        }
    }
}
