import Foundation
import HTTPTypes
import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// The files of a web archive, open for reading, and the index of their captures.
final class ArchiveContents: Sendable {
    private enum Files {
        /// The WARCs: the one that the archive is, or those in a WACZ.
        case warcs([any ByteSource])
        case har(any ByteSource, folder: URL)
    }

    /// How many captures of a URL are read before the request is given up.
    private static let maximumAttempts = 16
    /// How many records a chain of revisit records may have.
    private static let maximumRevisits = 8

    let index: CaptureIndex
    let warnings: [ImportReport.Warning]
    let origins: Set<String>
    let pages: [String]
    private let files: Files
    private let limits: WARCReader.Limits
    /// The captures whose bodies revisit records have, by the hashes of the names by which they refer to them.
    private let originals: [Int: [CapturePlace]]

    /// Opens an archive; the file's content decides which format it has.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be read, or is damaged before its first capture.
    init(_ file: URL, _ limits: WARCReader.Limits) throws(RecordingError) {
        self.limits = limits
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        var scan = ArchiveScan()
        let input = try RecordInput(source)
        let beginning = try input.beginning()
        if try input.peek(4).elementsEqual(WACZReader.beginning) {
            let wacz = try WACZReader(source, file)
            let warcs = try wacz.warcs(areChecked: false)
            files = .warcs(warcs.map(\.source))
            try scan.read(wacz, warcs)
        } else if beginning.hasPrefix("{") {
            files = .har(source, folder: file.deletingLastPathComponent())
            try scan.read(har: source, file, limits)
        } else if beginning.hasPrefix("WARC/") {
            files = .warcs([source])
            try scan.read(warc: source, number: 0)
        } else {
            throw RecordingError.unknownFormat(file)
        }
        (index, originals) = scan.index()
        warnings = scan.warnings
        origins = scan.origins
        pages = scan.pages
    }

    /// The first of some captures that is one of a URL and can be read.
    ///
    /// - Throws: ``RecordingError`` with the code `unusableCapture` if none of them can be read.
    func exchange(of url: String, in captures: [CapturePlace]) throws(RecordingError) -> ArchivedExchange {
        var reason = "the file has changed"
        for capture in captures.prefix(Self.maximumAttempts) {
            do throws(ImportRefusal) {
                let exchange = try exchange(at: capture)
                // Another URL may have the same hash.
                guard try ArchivedExchange.address(exchange.url).string == url else { continue }
                guard 200...599 ~= exchange.status, exchange.status != 304 else {
                    throw ImportRefusal(.status, "its status is \(exchange.status)")
                }
                guard exchange.status == 206 else { return exchange }
                return try exchange.ofWholeRange()
            } catch {
                reason = error.detail
            }
        }
        throw RecordingError(.unusableCapture, "no capture of \(url.shownURL) can be used: \(reason)")
    }

    private func exchange(at capture: CapturePlace) throws(ImportRefusal) -> ArchivedExchange {
        switch files {
        case .har(let source, let folder):
            let item: HARReader.Item?
            do throws(RecordingError) {
                let size = limits.maximumBlockSize
                item = try HARReader(source, entryAt: capture.offset, maximumEntrySize: size).next()
            } catch {
                throw ImportRefusal(.damagedEntry, error.message)
            }
            switch item?.content {
            case .entry(let entry):
                return try entry.archived(in: folder, limit: limits.maximumBlockSize.bytes, statuses: 200...599)
            case .unusable(_, let reason): throw ImportRefusal(.damagedEntry, reason)
            case .tooLarge(let bytes): throw ImportRefusal(.tooLarge, "the entry has \(bytes) bytes")
            case nil: throw ImportRefusal(.damagedEntry, "the entry is missing")
            }
        case .warcs(let sources):
            guard sources.indices.contains(Int(capture.file)) else {
                throw ImportRefusal(.damagedEntry, "its file is not in the archive")
            }
            return try exchange(of: record(at: capture), depth: 0)
        }
    }

    private func record(at capture: CapturePlace) throws(ImportRefusal) -> WARCRecord {
        guard case .warcs(let sources) = files else { throw ImportRefusal(.damagedEntry, "there is no record") }
        do throws(RecordingError) {
            let reader = try WARCReader(sources[Int(capture.file)], at: capture.offset, limits: limits)
            guard let record = try reader.next() else {
                throw RecordingError(.truncated, "no record is at byte \(capture.offset)")
            }
            return record
        } catch {
            throw ImportRefusal(.damagedEntry, error.message)
        }
    }

    /// The exchange of a record; a revisit record gets the body of another one.
    private func exchange(of record: WARCRecord, depth: Int) throws(ImportRefusal) -> ArchivedExchange {
        guard record.type == "revisit" else {
            return try record.exchange(nil, limit: limits.maximumBlockSize.bytes).exchange
        }
        guard depth < Self.maximumRevisits else {
            throw ImportRefusal(.revisit, "the revisit record refers to others in a circle")
        }
        for capture in originals(of: record) {
            guard let other = try? self.record(at: capture), other.type != "revisit" || isNamed(other, by: record)
            else {
                continue
            }
            // The digest counts more than the other references.
            if let digest = record.payloadDigest, let stated = other.payloadDigest, !digest.isOne(of: [stated]) {
                continue
            }
            // It may be damaged or cut off, and another record may have the same body.
            guard let original = try? exchange(of: other, depth: depth + 1) else { continue }
            let (status, fields) = try record.revisited(original.status, original.fields)
            return record.exchange(nil, fields, status: status, body: original.body)
        }
        throw ImportRefusal(.revisit, "the revisit record refers to a record that is not in the archive")
    }

    /// Whether a revisit record names another one by its ID or by its time: the last capture of a URL before it is often a
    /// revisit record too, and the original is further back.
    private func isNamed(_ other: WARCRecord, by record: WARCRecord) -> Bool {
        guard other.id == nil || other.id != record.id else { return false }
        return record["WARC-Refers-To"] != nil || record["WARC-Refers-To-Date"] != nil
    }

    /// The captures to which a revisit record may refer, the most reliable reference first.
    private func originals(of record: WARCRecord) -> [CapturePlace] {
        record.namesOfOriginal.flatMap { name -> [CapturePlace] in
            switch name {
            case .digest, .record: return originals[name.hashValue] ?? []
            case .capture(let url, let microseconds):
                let time = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
                // An index of a WACZ has whole seconds.
                return index.captures(of: url, nearestTo: time).filter { abs($0.date.timeIntervalSince(time)) < 1 }
            case .url(let url):
                let time = record.date ?? .distantFuture
                return index.captures(of: url, nearestTo: time).filter { $0.date <= time }
            }
        }
    }
}

extension ArchivedExchange {
    /// The same exchange with the status 200, if it is a range of all bytes, as some browsers ask for films.
    ///
    /// - Throws: ``ImportRefusal`` if it has only a part of the bytes.
    fileprivate func ofWholeRange() throws(ImportRefusal) -> ArchivedExchange {
        guard fields[.contentRange] == "bytes 0-\(body.count - 1)/\(body.count)" else {
            throw ImportRefusal(.status, "the capture has only a part of the body")
        }
        var whole = self
        whole.status = 200
        return whole
    }
}

/// The captures of an archive as they are found.
private struct ArchiveScan {
    /// The most bytes of a record that are read while the index is made: those of a request, or of the first page.
    private static let headLimit = ByteCount.mebibytes(4)
    private static let maximumPages = 20
    /// The most records with one digest that are kept: the first one may be cut off.
    private static let maximumOriginals = 4

    var warnings: [ImportReport.Warning] = []
    var origins: Set<String> = []
    var pages: [String] = []
    private var captures: [CapturePlace] = []
    /// The hashes of the names by which revisit records refer to captures, with the numbers of the captures.
    private var names: [(name: Int, capture: Int)] = []
    /// The hashes of the IDs of records with the numbers of the captures of the same exchange.
    private var relatives: [(id: Int, capture: Int)] = []
    private var revisited: Set<Int> = []
    /// The hashes of the IDs of the exchanges whose method is not GET.
    private var others: Set<Int> = []

    /// The index, and the captures to which revisit records refer.
    func index() -> (CaptureIndex, originals: [Int: [CapturePlace]]) {
        let left = Set(relatives.lazy.filter { others.contains($0.id) }.map(\.capture))
        let kept = left.isEmpty ? captures : captures.indices.filter { !left.contains($0) }.map { captures[$0] }
        var originals: [Int: [CapturePlace]] = [:]
        for (name, capture) in names where revisited.contains(name) {
            guard originals[name, default: []].count < Self.maximumOriginals else { continue }
            originals[name, default: []].append(captures[capture])
        }
        return (CaptureIndex(kept), originals)
    }

    /// Reads the index of a WACZ, or its WARCs if it has none.
    mutating func read(
        _ wacz: WACZReader,
        _ warcs: [(name: String, source: any ByteSource)]
    ) throws(RecordingError) {
        let numbers = Dictionary(warcs.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let hasIndex = try wacz.readIndex { line in
            guard let file = numbers[line.filename] else {
                warn("the index names \(line.filename.quoted()), which is not in the archive")
                return
            }
            guard let url = add(line.url, at: line.date, file: file, offset: line.offset) else { return }
            if let digest = line.digest.map({ BodyName.digest(WARCDigest($0)).hashValue }) {
                if line.mime == "warc/revisit" {
                    revisited.insert(digest)
                } else {
                    names.append((digest, captures.count - 1))
                }
            }
            if line.mime == "text/html", line.status == "200" { notePage(url) }
        }
        if !hasIndex {
            for (number, warc) in warcs.enumerated() { try read(warc: warc.source, number: number) }
        }
        let listed = try wacz.pages().prefix(Self.maximumPages)
        if !listed.isEmpty { pages = Array(listed) }
    }

    /// Reads a WARC from its beginning to its end, or to its first damage.
    mutating func read(warc source: any ByteSource, number: Int) throws(RecordingError) {
        var limits = WARCReader.Limits()
        limits.maximumBlockSize = Self.headLimit
        let reader = try WARCReader(source, limits: limits)
        do throws(RecordingError) {
            while let place = try reader.nextPlace(), let record = try reader.next() {
                add(record, at: place, file: number)
            }
        } catch {
            guard !captures.isEmpty, error.code != .notSeekable else { throw error }
            warn("\(error.message); the captures before it are used")
        }
        warnings += reader.warnings
    }

    private mutating func add(_ record: WARCRecord, at place: Int, file: Int) {
        switch record.type {
        case "request":
            let method = record.block?.prefix { $0 != UInt8(ascii: " ") }
            guard method != Data("GET".utf8) else { return }
            for id in record.relatives { others.insert(id.hashValue) }
        case "response", "resource", "revisit":
            guard let url = add(record.url, at: record.date, file: file, offset: place) else { return }
            let number = captures.count - 1
            for id in record.relatives { relatives.append((id.hashValue, number)) }
            if record.type == "revisit" {
                for name in record.namesOfOriginal { revisited.insert(name.hashValue) }
            } else {
                let own = [record.payloadDigest.map(BodyName.digest), record.id.map { .record(id: $0) }]
                for name in own.compactMap(\.self) { names.append((name.hashValue, number)) }
            }
            if pages.isEmpty, record.isPage { notePage(url) }
        default: break
        }
    }

    /// Reads a HAR from its beginning to its end, or to its first damage.
    mutating func read(har source: any ByteSource, _ file: URL, _ limits: WARCReader.Limits) throws(RecordingError) {
        let reader = try HARReader(source, maximumEntrySize: limits.maximumBlockSize)
        guard !reader.isCompressed else {
            throw RecordingError(.notSeekable, "\(file.path) is a compressed HAR: decompress it first")
        }
        do throws(RecordingError) {
            while let item = try reader.next() {
                guard case .entry(let entry) = item.content, entry.request.method == "GET",
                    let place = item.place.offset,
                    200...599 ~= entry.response.status, entry.response.status != 304,
                    let url = add(entry.request.url, at: entry.started, file: 0, offset: place)
                else { continue }
                if entry.response.status == 200, entry.response.content.mimeType.hasPrefix("text/html") {
                    notePage(url)
                }
            }
        } catch {
            guard !captures.isEmpty else { throw error }
            warn("\(error.message); the captures before it are used")
        }
        warnings += reader.warnings
    }

    /// Adds a capture; nil if its URL is not one of the web.
    private mutating func add(_ url: String, at date: Date?, file: Int, offset: Int) -> CanonicalURL? {
        guard let address = try? ArchivedExchange.address(url) else { return nil }
        captures.append(CapturePlace(of: address.string, at: date, file: file, offset: offset))
        origins.insert(address.origin)
        return address
    }

    private mutating func notePage(_ url: CanonicalURL) {
        if pages.isEmpty { pages.append(url.string) }
    }

    private mutating func warn(_ detail: String) {
        let warning = ImportReport.Warning(offset: nil, detail: detail)
        guard warnings.count < 1_000, !warnings.contains(warning) else { return }
        warnings.append(warning)
    }
}

extension WARCRecord {
    /// Whether the record is a page of HTML that was found, as far as the beginning of its block shows.
    fileprivate var isPage: Bool {
        guard type == "response", let block, let message = try? HTTPBlock(block), (try? message.status()) == 200 else {
            return false
        }
        return message.fields[.contentType]?.hasPrefix("text/html") ?? false
    }
}
