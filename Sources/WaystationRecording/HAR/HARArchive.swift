public import Foundation
import WaystationArchive
import WaystationHTTP
public import WaystationStorage

/// A log of HTTP exchanges in HAR 1.2 format, as browsers' developer tools save it.
///
/// ```swift
/// let archive = try HARArchive(contentsOf: file)
/// for entry in archive.entries { print(entry.request.method, entry.request.url, entry.response.status) }
/// ```
///
/// Reading is tolerant: unknown members are ignored, members of another type read as absent, and of a request only the
/// method and the URL are required. The whole log is in memory; ``HARReader`` reads one entry after the other. Writing
/// includes every member that HAR 1.2 requires. Members have the names of HAR; members that HAR does not define begin
/// with `_`, as it requires.
public struct HARArchive: Sendable, Hashable {
    /// The version that is written; versions 1.1 to 1.3 can be read.
    public static let version = "1.2"

    /// The program that made the log.
    public var creator: Creator
    /// The exchanges, ordered by when they began.
    public var entries: [Entry]
    /// A comment.
    public var comment: String?

    /// Makes a log.
    public init(creator: Creator = .waystation, entries: [Entry] = [], comment: String? = nil) {
        self.creator = creator
        self.entries = entries
        self.comment = comment
    }

    /// The name and version of a program.
    public struct Creator: Sendable, Hashable, Codable {
        /// The program's name.
        public var name: String
        /// The program's version.
        public var version: String

        /// Makes a creator.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This library.
        public static let waystation = Creator(name: "Waystation", version: SoftwareVersion.current)
    }

    /// A header field, query item or form item.
    public struct Pair: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a pair.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A cookie; other attributes are only in the header fields.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The path of a cookie that is set.
        public var path: String?
        /// The domain of a cookie that is set.
        public var domain: String?
        /// Whether the cookie is hidden from scripts.
        public var httpOnly: Bool?
        /// Whether the cookie is sent over TLS only.
        public var secure: Bool?

        /// Makes a cookie.
        public init(
            name: String,
            value: String,
            path: String? = nil,
            domain: String? = nil,
            httpOnly: Bool? = nil,
            secure: Bool? = nil
        ) {
            self.name = name
            self.value = value
            self.path = path
            self.domain = domain
            self.httpOnly = httpOnly
            self.secure = secure
        }
    }
}

extension HARArchive {
    /// Reads a log from a file.
    ///
    /// - Parameters:
    ///   - file: The file to read.
    ///   - maximumSize: The largest size that is read, since the whole log must be in memory; 512 MiB by default.
    /// - Throws: ``RecordingError`` when the file cannot be read, is too large, or is not a HAR file, and when one of its
    ///   entries cannot be read. The message names the place, such as `log.entries[3].request.url`.
    public init(contentsOf file: URL, maximumSize: ByteCount = .mebibytes(512)) throws(RecordingError) {
        try self.init(HARReader(contentsOf: file, maximumEntrySize: maximumSize), maximumSize)
    }

    /// Reads a log from bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes; they may be compressed.
    ///   - maximumSize: The largest size that is read; 512 MiB by default.
    /// - Throws: ``RecordingError`` that names the place of the error, such as `log.entries[3].request.url`.
    public init(_ data: Data, maximumSize: ByteCount = .mebibytes(512)) throws(RecordingError) {
        try self.init(HARReader(DataSource(data), maximumEntrySize: maximumSize), maximumSize)
    }

    private init(_ reader: HARReader, _ maximumSize: ByteCount) throws(RecordingError) {
        let tooLarge = RecordingError(
            .tooLarge,
            "the file has more than \(maximumSize): split it, or give a higher limit"
        )
        self.init(creator: Creator(name: "", version: ""))
        while let item = try reader.next() {
            guard reader.offset <= maximumSize.bytes else { throw tooLarge }
            switch item.content {
            case .entry(let entry): entries.append(entry)
            case .unusable(_, let reason):
                throw RecordingError(
                    .invalidHAR,
                    "the file is not a valid HAR file: \(reason)",
                    at: item.place.offset.map { RecordingError.Position(offset: $0, line: nil) }
                )
            case .tooLarge: throw tooLarge
            }
        }
        guard reader.offset <= maximumSize.bytes else { throw tooLarge }
        creator = reader.creator ?? creator
        comment = reader.comment
    }
}

extension HARArchive.Response {
    /// The body's bytes.
    ///
    /// - Parameters:
    ///   - folder: The folder of the HAR file, in which bodies may be files of their own; nil if the recording has no
    ///     folder. Such bodies cannot be read then.
    ///   - limit: The most bytes of a body that is a file of its own; 512 MiB by default.
    /// - Returns: The body, without codings.
    /// - Throws: ``ImportRefusal`` with the reason why the body cannot be had.
    package func body(in folder: URL? = nil, limit: Int = 512 << 20) throws(ImportRefusal) -> Data {
        guard !content.isTruncated else {
            throw ImportRefusal(.incomplete, "the recording has \(content.text == nil ? "no" : "a") part of its body")
        }
        if let file = content.file, content.text == nil { return try Self.contents(of: file, in: folder, limit) }
        guard let text = content.text else {
            let isEmpty = content.size == 0 || 300...399 ~= status || status == 204
            guard isEmpty else { throw ImportRefusal(.noBody, "the recording does not have its body") }
            return Data()
        }
        if content.isBinary { return try binaryBody(text) }
        if let body = unmarkedBinaryBody(text) { return body }
        return try content.bytes(of: text)
    }

    /// The body of a file beside the recording, which cannot be outside of the recording's folder.
    private static func contents(of file: String, in folder: URL?, _ limit: Int) throws(ImportRefusal) -> Data {
        guard let folder else { throw ImportRefusal(.noBody, "the body is in the file \(file.shown(upTo: 80))") }
        let length: Int
        do {
            let path = folder.path(percentEncoded: false)
            let source = try FileSource(LocalFileSystem().openFile(file, below: path))
            length = source.length
            if length <= limit { return try source.read(at: 0, count: length) }
        } catch {
            throw ImportRefusal(
                .noBody,
                "the body should be in the file \(file.shown(upTo: 80)), which cannot be read: \(error)"
            )
        }
        throw ImportRefusal(.tooLarge, "the file \(file.shown(upTo: 80)) has \(length) bytes, but \(limit) are allowed")
    }

    /// The body as Polly.js wrote it up to its version 1: a JSON array of hexadecimal digits, with its content coding and
    /// without a mark; nil for any other text.
    private func unmarkedBinaryBody(_ text: String) -> Data? {
        guard text.hasPrefix("[\""), content.encoding == nil, coding != nil else { return nil }
        // JSON that only looks like such bytes is in no coding.
        guard let bytes = try? coded(text), let body = try? decoded(bytes), body != bytes else { return nil }
        return body
    }

    private var coding: String? { headers.first { $0.name.equalsIgnoringCase("Content-Encoding") }?.value }

    /// The body as Polly.js writes it: one text, or a JSON array with one text for each part, with its content coding.
    private func binaryBody(_ text: String) throws(ImportRefusal) -> Data { try decoded(coded(text)) }

    private func decoded(_ bytes: Data) throws(ImportRefusal) -> Data {
        try ContentCoding.decode(bytes, [coding ?? ""], limit: 512 << 20)
    }

    /// The bytes of a text of Polly.js, with their content coding.
    private func coded(_ text: String) throws(ImportRefusal) -> Data {
        let parts = (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? [text]
        var body = Data()
        for part in parts {
            if content.encoding == nil {
                guard let bytes = Data(hexadecimal: part) else {
                    throw ImportRefusal(.damagedBody, "the body is neither Base64 nor hexadecimal digits")
                }
                body += bytes
            } else {
                body += try content.bytes(of: part)
            }
        }
        return body
    }
}

extension HARArchive.Content {
    /// The bytes of the text, without its encoding.
    fileprivate func bytes(of text: String) throws(ImportRefusal) -> Data {
        switch encoding?.lowercased() {
        case nil, "utf-8", "utf8": return Data(text.utf8)
        case "base64":
            guard let data = Data(anyBase64: text) else {
                throw ImportRefusal(.damagedBody, "the body is not valid Base64")
            }
            return data
        case let encoding?:
            throw ImportRefusal(.damagedBody, "the body has the unknown encoding \(encoding.shown(upTo: 20))")
        }
    }
}

extension Data {
    /// Makes bytes of Base64 in any form (RFC 4648 §4, §5): with line breaks or without, with padding or without.
    fileprivate init?(anyBase64 text: String) {
        if let data = Data(base64Encoded: text) {
            self = data
            return
        }
        var digits = text.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: "=") }
        for index in digits.indices {
            switch digits[index] {
            case UInt8(ascii: "-"): digits[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): digits[index] = UInt8(ascii: "/")
            default: break
            }
        }
        digits += Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(digits)) else { return nil }
        self = data
    }

    /// Makes bytes of pairs of hexadecimal digits; nil for other text.
    fileprivate init?(hexadecimal text: String) {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        self.init(stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
    }
}

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
        /// The body; nil if the request had no body.
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
        /// The value of `Location`; empty if the response has no such field.
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
