import Dispatch
public import Foundation
import HTTPTypes
public import Waystation
import WaystationFoundation
import WaystationHTTP

/// A web archive from which requests are answered: a WARC, a WACZ or a HAR.
///
/// ```swift
/// let archive = try WebArchive(contentsOf: file).nearest(to: date)
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://shop.example/**", via: .source(archive, orElse: .nowhere))]
/// }
/// ```
/// ``Waystation/Route/archive(file:at:orElse:)`` is short for this.
///
/// The file is read in its place: the index of the archive is in memory, 32 bytes for each capture, and a record is read
/// when its URL is asked for. A GET gets the capture of its URL whose time is nearest to the time that the app chooses, or that the
/// request names by `Accept-Datetime` (RFC 7089 §2.1.1); a HEAD gets its fields. `Memento-Datetime` in the response is the
/// time of the capture. All statuses are answered, so a redirect or a missing page is seen as it was. If the record of a
/// capture is damaged, the next nearest one is used. Other methods, and URLs without a capture, are declined.
///
/// A range of bytes (RFC 9110 §14.2) is answered from the whole body. Bodies are without content codings, and the fields
/// `Set-Cookie`, `Connection` and its kin are left out, as in responses from the cache.
///
/// The file must not be changed while it is in use; it may be removed or replaced by another file of its name.
public struct WebArchive: AnswerSource {
    /// The name of the source in events and in `Cache-Status`: `archive`.
    public let name = "archive"

    private let contents: ArchiveContents
    private let time: Date?

    /// Records are read away from Swift's threads, which must not block.
    private static let reading = DispatchQueue(label: "waystation.archive", qos: .utility, attributes: .concurrent)

    /// Opens an archive and reads its index.
    ///
    /// The index of a WACZ is in its file. A WARC or a HAR is read once from its beginning to its end, which takes as long
    /// as the disk and the decompression need. Any thread may call this.
    ///
    /// - Parameters:
    ///   - file: The archive. A `.warc.gz` or `.warc.zst` must have a member for each record, as all programs for web
    ///     archives write them.
    ///   - limits: How much of one record is read into memory; a larger capture cannot be answered. The block limit is also
    ///     that of an entry of a HAR.
    /// - Throws: ``RecordingError`` when the file cannot be read, when it is damaged before its first capture, and with the
    ///   code `notSeekable` when it is compressed as a whole.
    public init(contentsOf file: URL, limits: WARCReader.Limits = WARCReader.Limits()) throws(RecordingError) {
        contents = try ArchiveContents(file, limits)
        time = nil
    }

    private init(_ contents: ArchiveContents, _ time: Date?) {
        self.contents = contents
        self.time = time
    }

    /// The same archive as of another time.
    ///
    /// - Parameter time: The time to which captures shall be nearest; nil for the latest captures, which a new archive
    ///   gives.
    /// - Returns: The archive; both share one index.
    public func nearest(to time: Date?) -> WebArchive { WebArchive(contents, time) }

    /// The times of all captures of a URL, the earliest first; empty for a URL without captures.
    public func captures(of url: URL) -> [Date] {
        guard let address = try? ArchivedExchange.address(url.absoluteString) else { return [] }
        return contents.index.captures(of: address.string).map(\.date)
    }

    /// The number of captures.
    public var captureCount: Int { contents.index.count }

    /// The deviations from the format that were read over; the first 1,000 of them.
    public var warnings: [ImportReport.Warning] { contents.warnings }

    /// The origins of all captures, such as `https://shop.example`, in the order of their text.
    package var origins: [String] { contents.origins.sorted() }

    /// The pages at which a reader begins: those that a WACZ lists, or else the first HTML page.
    package var pages: [String] { contents.pages }

    /// Answers a request from the captures of its URL.
    public func answer(to request: SourceRequest) -> SourceAnswer {
        guard ["GET", "HEAD"].contains(request.method),
            let address = try? ArchivedExchange.address(request.url.absoluteString)
        else { return .declined }
        let wanted = request.acceptedTime ?? time
        let found = contents.index.captures(of: address.string, nearestTo: wanted)
        guard !found.isEmpty else { return .declined }
        // Only a GET has a range (RFC 9110 §14.2).
        let isWhole = request.method != "GET" || request.request.value(forHTTPHeaderField: "If-Range") != nil
        let range = isWhole ? nil : request.range
        return .later {
            try await withCheckedThrowingContinuation { continuation in
                Self.reading.async {
                    continuation.resume(
                        with: Result { try contents.exchange(of: address.string, in: found).answer(range) }
                    )
                }
            }
        }
    }
}

extension Route {
    /// The captures of a web archive: a WARC, a WACZ or a HAR.
    ///
    /// ```swift
    /// let interceptor = try Interceptor {
    ///     $0.rules = [.allow("https://shop.example/**", via: try .archive(file: file, at: date))]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - file: The archive, which is opened now; see ``WebArchive``.
    ///   - time: The time to which captures shall be nearest; nil for the latest ones, which is the default.
    ///   - otherwise: The route for requests without a capture; none by default, so that no page of an archive shows
    ///     something of the present web.
    /// - Returns: The route.
    /// - Throws: ``RecordingError`` when the file cannot be read; see ``WebArchive/init(contentsOf:limits:)``.
    public static func archive(
        file: URL,
        at time: Date? = nil,
        orElse otherwise: Route = .nowhere
    ) throws(RecordingError) -> Route {
        .source(try WebArchive(contentsOf: file).nearest(to: time), orElse: otherwise)
    }
}

extension SourceRequest {
    /// The time that the request asks for (RFC 7089 §2.1.1); nil if it names none.
    fileprivate var acceptedTime: Date? {
        request.value(forHTTPHeaderField: "Accept-Datetime")
            .flatMap { HTTPDate($0, now: HTTPDate(nearestTo: Date().timeIntervalSince1970)) }
            .map { Date(timeIntervalSince1970: Double($0.secondsSinceEpoch)) }
    }

    fileprivate var range: String? { request.value(forHTTPHeaderField: "Range") }
}

extension ArchivedExchange {
    /// The answer to a request for this capture.
    ///
    /// - Parameter range: The value of the request's `Range`; nil for the whole body.
    /// - Returns: The answer.
    fileprivate func answer(_ range: String?) -> SourceAnswer {
        var fields = StoredFields.normalized(fields.dictionary)
        fields[.contentRange] = nil
        if let captured {
            fields[.mementoDatetime] = HTTPDate(nearestTo: captured.timeIntervalSince1970).fieldValue
        }
        guard status == 200 else {
            return .response(status: status, headerFields: fields.dictionary, body: body)
        }
        fields[.acceptRanges] = "bytes"
        switch range.map({ ByteRange($0, length: body.count) }) {
        case .part(let part):
            fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            return .response(
                status: 206,
                headerFields: fields.dictionary,
                body: Data(body.dropFirst(part.lowerBound).prefix(part.count))
            )
        case .unsatisfiable:
            let fields: HTTPFields = [.contentRange: "bytes */\(body.count)", .acceptRanges: "bytes"]
            return .response(status: 416, headerFields: fields.dictionary)
        case .ignored, nil: return .response(headerFields: fields.dictionary, body: body)
        }
    }
}

extension HTTPField.Name {
    /// The time of a capture (RFC 7089 §2.1.1).
    fileprivate static let mementoDatetime: HTTPField.Name = {
        // The name is a token, so it is never refused.
        HTTPField.Name("Memento-Datetime") ?? .date
    }()
}
