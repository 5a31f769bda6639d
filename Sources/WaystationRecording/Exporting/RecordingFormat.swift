package import Foundation
import Waystation
import WaystationHTTP
import WaystationStorage

/// The format of a file of recorded exchanges.
public struct RecordingFormat: Hashable, Sendable, CustomStringConvertible {
    /// The format's name, as it ends the names of files.
    public let description: String

    /// HAR 1.2: JSON, as the developer tools of browsers show it.
    public static let har = RecordingFormat(description: "har")
    /// WARC 1.1 (ISO 28500), as web archives keep it.
    ///
    /// Each record is compressed by gzip if the file's name ends in `.gz`.
    public static let warc = RecordingFormat(description: "warc")
    /// WACZ 1.1.1: a WARC with its index and its pages in one zip, as ReplayWeb.page and pywb play it.
    public static let wacz = RecordingFormat(description: "wacz")

    /// The format that the name of a file ends in; nil if it ends in none.
    package init?(of file: URL) {
        let name = file.lastPathComponent.lowercased()
        let known: [(String, RecordingFormat)] = [
            (".har", .har), (".warc", .warc), (".warc.gz", .warc), (".wacz", .wacz),
        ]
        guard let format = known.first(where: { name.hasSuffix($0.0) })?.1 else { return nil }
        self = format
    }

    private init(description: String) { self.description = description }
}

/// A file that exchanges are written to, in one of the formats.
///
/// The file gets its name by ``finish()``; without it, no file is left. Only one thread at a time may use it.
enum RecordingOutput {
    case har(HARWriter)
    case warc(WARCWriter)
    case wacz(WACZWriter)

    /// Begins a file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be made.
    init(_ file: URL, as format: RecordingFormat, created: Date) throws {
        switch format {
        case .warc:
            let name = file.lastPathComponent
            let isCompressed = name.lowercased().hasSuffix(".gz")
            let output = try OutputFile(file)
            self = .warc(try WARCWriter(output, name: name, isCompressed: isCompressed, created: created))
        case .wacz: self = .wacz(try WACZWriter(file, created: created))
        default: self = .har(try HARWriter(file))
        }
    }

    /// Adds a load.
    ///
    /// - Parameters:
    ///   - exchange: The load; its body does not count.
    ///   - body: The body; nil if it was not seen.
    ///   - redaction: The secrets that are left out.
    /// - Returns: False if the format has no place for the load: one without a response in a WARC.
    /// - Throws: ``RecordingError`` when the file cannot be written; the error of reading the body.
    func append(
        _ exchange: RecordedExchange,
        body: (any ByteSource)?,
        _ redaction: Redaction
    ) throws -> Bool {
        guard case .har(let writer) = self else { return try append(Capture(exchange, body: body, redaction)) }
        var exchange = exchange
        exchange.body = try body.map { try $0.read(at: 0, count: $0.length) }
        try writer.append(HARArchive.Entry(exchange, redaction))
        return true
    }

    /// Adds a stored response.
    ///
    /// - Returns: False if the format has no place for the response.
    /// - Throws: ``RecordingError`` when the file cannot be written; the error of reading the body.
    func append(_ head: StoredHead, body: any ByteSource, _ redaction: Redaction) throws -> Bool {
        guard case .har(let writer) = self else { return try append(Capture(head, body: body, redaction)) }
        try writer.append(HARArchive.Entry(head, try body.read(at: 0, count: body.length), redaction))
        return true
    }

    private func append(_ capture: Capture?) throws -> Bool {
        guard let capture else { return false }
        switch self {
        case .har: return false
        case .warc(let writer): try writer.append(capture)
        case .wacz(let writer): try writer.append(capture)
        }
        return true
    }

    /// Completes the file and gives it its name, replacing an existing file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    func finish() throws {
        switch self {
        case .har(let writer): try writer.finish()
        case .warc(let writer): try writer.file.finish()
        case .wacz(let writer): try writer.finish()
        }
    }
}
