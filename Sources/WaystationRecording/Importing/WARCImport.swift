import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

/// An import of a WARC file, or of the WARCs of one WACZ, into a store, in two passes: first the requests, then the
/// responses.
///
/// A response record does not contain its request: the method and the request fields are in a separate record, before
/// or after it. A revisit record does not contain its body, which is in a record before or after it.
struct WARCImport {
    /// A response to whose body revisit records refer.
    private struct Original {
        let status: Int
        let fields: HTTPFields
        /// The digests of its body: the stated one, or the computed ones.
        let digests: [WARCDigest]
        /// Its place in the store; nil if it was not stored.
        var place: (key: RequestKey, id: Int64)?
        /// The body, if there was room for it; without it, the body is lost when its response is replaced.
        let body: Data?
    }

    /// A record whose original was not read yet.
    private struct Waiting {
        let record: WARCRecord
        let place: ImportReport.Place
    }

    /// The most bytes of request records, and of revisit records that wait, that an import keeps in memory.
    private static let maximumRecordBytes = 256 << 20

    private let limits: WARCReader.Limits
    private var requests: [String: WARCRecord.Request] = [:]
    /// The names of bodies to which revisit records refer.
    private var revisited: Set<BodyName> = []
    /// The responses that have these bodies.
    private var originals: [BodyName: Original] = [:]
    private var waiting: [Waiting] = []
    /// How many bytes of bodies may still be kept in memory.
    private var roomForBodies: Int
    /// How many bytes of revisit records may still wait.
    private var roomForWaiting = Self.maximumRecordBytes
    /// The reason why the rest of the file cannot be read; nil if all of it can.
    private var damage: RecordingError?

    /// Reads the requests, and which bodies are revisited, up to the first damage in each file.
    ///
    /// - Parameters:
    ///   - sources: The files.
    ///   - limits: How much of one record is read into memory.
    ///   - roomForBodies: How many bytes of revisited bodies are kept in memory; 64 MiB by default.
    /// - Throws: ``RecordingError`` when the file cannot be read, is damaged before its first response, or has more
    ///   requests than are kept in memory.
    init(
        _ sources: [any ByteSource],
        _ limits: WARCReader.Limits,
        roomForBodies: Int = 64 << 20
    ) throws(RecordingError) {
        self.limits = limits
        self.roomForBodies = roomForBodies
        var bytes = 0
        var hasResponses = false
        for source in sources {
            let reader = try WARCReader(source, limits: limits)
            while let record = recordBeforeDamage(reader) {
                hasResponses = hasResponses || ["response", "resource"].contains(record.type)
                if record.type == "revisit" { revisited.formUnion(record.namesOfOriginal) }
                guard record.type == "request", let block = record.block, let message = try? HTTPBlock(block) else {
                    continue
                }
                bytes += block.count
                guard bytes <= Self.maximumRecordBytes else {
                    throw RecordingError(
                        .tooLarge,
                        "the requests have more than \(Self.maximumRecordBytes) bytes: split the file"
                    )
                }
                let request = WARCRecord.Request(method: message.method, fields: message.fields)
                for id in record.relatives { requests[id] = request }
            }
        }
        if let damage, !hasResponses { throw damage }
    }

    /// The next record; nil at the end of the file and at its first damage.
    private mutating func recordBeforeDamage(_ reader: WARCReader) -> WARCRecord? {
        do { return try reader.next() } catch {
            damage = damage ?? error
            return nil
        }
    }

    /// Imports the responses into the store.
    ///
    /// - Throws: ``RecordingError`` when a file is damaged; the responses before the damage, and those of the other files,
    ///   are stored.
    mutating func run(_ sources: [any ByteSource], into recording: inout RecordingImport) async throws {
        var number = 0
        // Another program may still be writing the file, so that it is whole by now; but the requests after the damage
        // were not read.
        var failure = damage
        var warnings: [ImportReport.Warning] = []
        for source in sources {
            let reader = try WARCReader(source, limits: limits)
            while true {
                let next: WARCRecord?
                do throws(RecordingError) { next = try reader.next() } catch {
                    failure = failure ?? error
                    break
                }
                guard let record = next else { break }
                number += 1
                let place = ImportReport.Place(number: number, offset: record.offset)
                try await take(record, at: place, into: &recording)
            }
            warnings += reader.warnings.prefix(1_000 - warnings.count)
        }
        recording.warn(warnings)
        try await takeWaiting(into: &recording)
        if let failure { throw failure }
    }

    private mutating func take(
        _ record: WARCRecord,
        at place: ImportReport.Place,
        into recording: inout RecordingImport
    ) async throws {
        switch record.type {
        case "response", "resource": try await store(record, at: place, into: &recording)
        case "revisit":
            if try await revisit(record, at: place, into: &recording) { return }
            let size = record.block?.count ?? 0
            guard size <= roomForWaiting else { return recording.skip(record.url, at: place, Self.lostOriginal) }
            roomForWaiting -= size
            waiting.append(Waiting(record: record, place: place))
        // WARC records of these types describe the file or other records.
        case "warcinfo", "request", "metadata", "conversion", "continuation": break
        default: break
        }
    }

    private mutating func store(
        _ record: WARCRecord,
        at place: ImportReport.Place,
        into recording: inout RecordingImport
    ) async throws {
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        let limit = limits.maximumBlockSize.bytes
        var exchange: ArchivedExchange?
        var digests: [WARCDigest] = []
        let isRevisited = !revisited.isEmpty
        let stored = try await recording.take(record.url, at: place) { () throws(ImportRefusal) in
            let read = try record.exchange(request, limit: limit)
            guard record.type != "response" || !mayLackRequest else { throw Self.lostRequest }
            exchange = read.exchange
            if isRevisited {
                digests = record.digests(of: read.content, record.type == "response" ? read.exchange.body : nil)
            }
            return read.exchange
        }
        guard let exchange, isRevisited else { return }
        keep(exchange, stored, as: record.names, digests: digests)
    }

    /// Keeps a response for revisit records that refer to it by one of its names, also if it was not stored itself: a
    /// newer capture may have been, or it may say `no-store`, which the revisit does not.
    private mutating func keep(
        _ exchange: ArchivedExchange,
        _ stored: RecordingImport.Stored?,
        as names: [BodyName],
        digests: [WARCDigest]
    ) {
        let names = (digests.map(BodyName.digest) + names).filter(revisited.contains)
        guard !names.isEmpty else { return }
        var body = names.lazy.compactMap { [originals] in originals[$0]?.body }.first { $0 == exchange.body }
        if body == nil, exchange.body.count <= roomForBodies {
            roomForBodies -= exchange.body.count
            body = exchange.body
        }
        let original = Original(
            status: exchange.status,
            fields: exchange.fields,
            digests: digests,
            place: stored.map { ($0.key, $0.id) },
            body: body
        )
        for name in names { originals[name] = original }
    }

    /// The response that a revisit record refers to, with its body; nil if it was not read yet, or its body is lost.
    private func original(
        of record: WARCRecord,
        in store: ResponseStore
    ) async throws -> (original: Original, body: Data)? {
        for original in record.namesOfOriginal.compactMap({ originals[$0] }) {
            // The digest counts more than the other references, which may name a later capture.
            if let digest = record.payloadDigest, !digest.isOne(of: original.digests) { continue }
            if let body = original.body { return (original, body) }
            guard let place = original.place else { continue }
            let row = await store.lookup(place.key).first { $0.id == place.id }
            if let row { return (original, try row.body.contents()) }
        }
        return nil
    }

    /// Imports a record that has the body of another one.
    ///
    /// - Returns: False if the other record was not read yet.
    private mutating func revisit(
        _ record: WARCRecord,
        at place: ImportReport.Place,
        into recording: inout RecordingImport
    ) async throws -> Bool {
        guard let (original, body) = try await original(of: record, in: recording.store) else { return false }
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        var exchange: ArchivedExchange?
        let stored = try await recording.take(record.url, at: place) { () throws(ImportRefusal) in
            guard !mayLackRequest else { throw Self.lostRequest }
            let (status, fields) = try record.revisited(original.status, original.fields)
            let made = record.exchange(request, fields, status: status, body: body)
            exchange = made
            return made
        }
        guard let exchange else { return true }
        // The response that is stored now may have replaced the one that had the body.
        let digests = record.payloadDigest.map { [$0] } ?? original.digests
        keep(exchange, stored, as: record.namesOfOriginal + record.names, digests: digests)
        return true
    }

    /// Imports the records that refer to later ones; a record may refer to another one that waits.
    private mutating func takeWaiting(into recording: inout RecordingImport) async throws {
        var hasProgress = true
        while hasProgress, !waiting.isEmpty {
            hasProgress = false
            let present = waiting
            waiting = []
            for item in present {
                if try await revisit(item.record, at: item.place, into: &recording) {
                    hasProgress = true
                } else {
                    waiting.append(item)
                }
            }
        }
        for item in waiting { recording.skip(item.record.url, at: item.place, Self.lostOriginal) }
        waiting = []
    }

    private func request(of record: WARCRecord) -> WARCRecord.Request? {
        record.relatives.lazy.compactMap { requests[$0] }.first
    }

    /// Whether the request of a response may be in the lost part of a damaged file, so that its method is unknown.
    ///
    /// In a file without requests, each response counts as one to a GET.
    private func mayLackRequest(_ record: WARCRecord) -> Bool {
        guard damage != nil, request(of: record) == nil else { return false }
        return !requests.isEmpty || record["WARC-Concurrent-To"] != nil
    }

    private static var lostRequest: ImportRefusal {
        ImportRefusal(.incomplete, "its request may be in the damaged part of the file")
    }

    private static var lostOriginal: ImportRefusal {
        ImportRefusal(
            .revisit,
            "the revisit record refers to a record whose body is not in the file, or was not imported or replaced"
        )
    }
}
