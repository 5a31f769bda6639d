public import Foundation

extension HARArchive {
    /// One exchange.
    public struct Entry: Sendable, Hashable {
        /// When the request was begun; nil where the file says nothing that can be read.
        public var started: Date?
        /// How long it took altogether, in milliseconds.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response; its status is 0 where none came.
        public var response: Response
        /// How the time was spent.
        public var timings: Timings
        /// Where the answer came from, such as `cache` (`_servedFrom`).
        public var source: String?
        /// A remark.
        public var comment: String?

        /// An exchange.
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

    /// Durations in milliseconds; -1 is unknown.
    public struct Timings: Sendable, Hashable {
        /// Waiting for a connection.
        public var blocked: Double
        /// Looking the host up.
        public var dns: Double
        /// Connecting.
        public var connect: Double
        /// The handshake of TLS, a part of ``connect``.
        public var ssl: Double
        /// Sending the request.
        public var send: Double
        /// Waiting for the response.
        public var wait: Double
        /// Reading the response.
        public var receive: Double

        /// Durations.
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

    /// What was asked.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The absolute URL, without its fragment.
        public var url: String
        /// The protocol's version, such as `HTTP/1.1`.
        public var httpVersion: String
        /// The cookies sent.
        public var cookies: [Cookie]
        /// The fields.
        public var headers: [Pair]
        /// The items of the URL's query, decoded.
        public var queryString: [Pair]
        /// The body; nil where there is none.
        public var postData: PostData?
        /// The number of bytes of the body as sent; -1 is unknown.
        public var bodySize: Int

        /// A request.
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
        /// Its media type.
        public var mimeType: String
        /// Its text.
        public var text: String
        /// `base64` where the text is the bytes in Base64 (`_encoding`).
        public var encoding: String?

        /// A body.
        public init(mimeType: String, text: String, encoding: String? = nil) {
            self.mimeType = mimeType
            self.text = text
            self.encoding = encoding
        }
    }

    /// What came back.
    public struct Response: Sendable, Hashable {
        /// The status; 0 where none came.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The protocol's version.
        public var httpVersion: String
        /// The cookies set.
        public var cookies: [Cookie]
        /// The fields.
        public var headers: [Pair]
        /// The body.
        public var content: Content
        /// The value of `Location`, or nothing.
        public var redirectURL: String
        /// The number of bytes of the body as received; -1 is unknown.
        public var bodySize: Int

        /// A response.
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
        /// The number of bytes; -1 is unknown.
        public var size: Int
        /// The media type.
        public var mimeType: String
        /// Text, or bytes in Base64; nil where the file does not have the body.
        public var text: String?
        /// `base64` where ``text`` is that.
        public var encoding: String?
        /// Whether ``text`` is less than the whole (`_truncated`).
        public var isTruncated: Bool
        /// A remark.
        public var comment: String?

        /// A body.
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
