import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

/// An import of a WARC file into a store, in two passes: first the requests, then the responses.
///
/// A response record does not contain its request: the method and the request fields are in a separate record, before
/// or after it.
struct WARCImport {
    fileprivate struct Request {
        let method: String
        let fields: HTTPFields
    }

    /// A stored body to which revisit records refer.
    private struct Body {
        let key: RequestKey
        let id: Int64
        /// The bytes, if there was room for them; without them, the body is lost when its response is replaced.
        let bytes: Data?
    }

    /// The most bytes of request records that an import keeps in memory.
    private static let maximumRequestBytes = 256 << 20

    private let limits: WARCReader.Limits
    private var requests: [String: Request] = [:]
    /// The digests and record IDs of bodies to which revisit records refer.
    private var revisited: Set<String> = []
    /// The stored ones of these bodies, by digest and by record ID.
    private var bodies: [String: Body] = [:]
    /// How many bytes of bodies may still be kept in memory.
    private var roomForBodies: Int
    /// The reason why the rest of the file cannot be read; nil if all of it can.
    private var damage: RecordingError?

    /// Reads the requests, and which bodies are revisited, up to the first damage in the file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - limits: How much of one record is read into memory.
    ///   - roomForBodies: How many bytes of revisited bodies are kept in memory; 64 MiB by default.
    /// - Throws: ``RecordingError`` when the file cannot be read, is damaged before its first response, or has more
    ///   requests than are kept in memory.
    init(
        _ source: any ByteSource,
        _ limits: WARCReader.Limits,
        roomForBodies: Int = 64 << 20
    ) throws(RecordingError) {
        self.limits = limits
        self.roomForBodies = roomForBodies
        let reader = try WARCReader(source, limits: limits)
        var bytes = 0
        var hasResponses = false
        while let record = recordBeforeDamage(reader) {
            hasResponses = hasResponses || ["response", "resource"].contains(record.type)
            if record.type == "revisit" { revisited.formUnion(record.namesOfRevisited) }
            guard record.type == "request", let block = record.block, let message = try? HTTPBlock(block) else {
                continue
            }
            bytes += block.count
            guard bytes <= Self.maximumRequestBytes else {
                throw RecordingError(
                    .tooLarge,
                    "the requests have more than \(Self.maximumRequestBytes) bytes: split the file"
                )
            }
            let request = Request(method: message.method, fields: message.fields)
            for id in record.relatives { requests[id] = request }
        }
        if let damage, !hasResponses { throw damage }
    }

    /// The next record; nil at the end of the file and at its first damage.
    private mutating func recordBeforeDamage(_ reader: WARCReader) -> WARCRecord? {
        do { return try reader.next() } catch {
            damage = error
            return nil
        }
    }

    /// Imports the responses into the store.
    ///
    /// - Throws: ``RecordingError`` when the file is damaged; the responses before the damage are stored.
    mutating func run(_ source: any ByteSource, into recording: inout RecordingImport) async throws {
        let reader = try WARCReader(source, limits: limits)
        while let record = try reader.next() {
            let url = record.targetURI ?? ""
            switch record.type {
            case "response", "resource": try await store(record, url, into: &recording)
            case "revisit": try await revisit(record, url, into: &recording)
            // WARC records of these types describe the file or other records.
            case "warcinfo", "request", "metadata", "conversion", "continuation": break
            default: break
            }
        }
        // Another program may still be writing the file, so that it is whole by now; but the requests after the damage
        // were not read.
        if let damage { throw damage }
    }

    private mutating func store(_ record: WARCRecord, _ url: String, into recording: inout RecordingImport) async throws
    {
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        let limit = limits.maximumBlockSize.bytes
        let stored = try await recording.take(url) { () throws(ImportRefusal) in
            guard let block = record.block else {
                throw ImportRefusal(.tooLarge, "the record has \(record.blockLength) bytes, but \(limit) are allowed")
            }
            guard record.isIntact else {
                throw ImportRefusal(.damagedBody, "the bytes of the record do not match its digest")
            }
            if let cut = record["WARC-Truncated"] {
                throw ImportRefusal(.incomplete, "the record was cut off: \(cut.shown())")
            }
            guard record.type == "response" else { return record.resource(block) }
            guard !mayLackRequest else { throw Self.lostRequest }
            let message = try HTTPBlock(block)
            return try record.exchange(request, message, status: message.status(), body: message.body(limit: limit))
        }
        if let stored { keep(stored, as: [record["WARC-Payload-Digest"], record.id].compactMap(\.self)) }
    }

    /// Keeps a body for later records that refer to it by one of its names.
    private mutating func keep(_ stored: RecordingImport.Stored, as names: [String]) {
        let names = names.filter(revisited.contains)
        guard !names.isEmpty else { return }
        var bytes = names.lazy.compactMap { [bodies] in bodies[$0]?.bytes }.first { $0 == stored.body }
        if bytes == nil, stored.body.count <= roomForBodies {
            roomForBodies -= stored.body.count
            bytes = stored.body
        }
        for name in names { bodies[name] = Body(key: stored.key, id: stored.id, bytes: bytes) }
    }

    /// The first body with one of these names that is still there.
    private func body(_ names: [String], in store: ResponseStore) async throws -> Data? {
        for body in names.compactMap({ bodies[$0] }) {
            if let bytes = body.bytes { return bytes }
            let row = await store.lookup(body.key).first { $0.id == body.id }
            if let row { return try row.body.contents() }
        }
        return nil
    }

    /// Imports a record that has the same body as an earlier one, with a head of its own.
    private mutating func revisit(
        _ record: WARCRecord,
        _ url: String,
        into recording: inout RecordingImport
    ) async throws {
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        let names = record.namesOfRevisited
        let body = try await body(names, in: recording.store)
        let stored = try await recording.take(url) { () throws(ImportRefusal) in
            guard !mayLackRequest else { throw Self.lostRequest }
            guard let body else {
                throw ImportRefusal(
                    .revisit,
                    "the revisit record refers to another record, whose body was not imported or was replaced"
                )
            }
            guard let block = record.block, !block.isEmpty else {
                throw ImportRefusal(.revisit, "the revisit record refers to another record but has no head of its own")
            }
            let message = try HTTPBlock(block)
            return try record.exchange(request, message, status: message.status(), body: body)
        }
        // The response that is stored now may have replaced the one that had the body.
        if let stored { keep(stored, as: names + [record.id].compactMap(\.self)) }
    }

    private func request(of record: WARCRecord) -> Request? {
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
}

extension WARCRecord {
    /// The digest and the record ID by which a revisit record refers to its body.
    fileprivate var namesOfRevisited: [String] {
        [self["WARC-Payload-Digest"], self["WARC-Refers-To"].map(Self.unbracketed)].compactMap(\.self)
    }

    /// The IDs of the records of the same exchange, including this record's own.
    fileprivate var relatives: [String] {
        [id].compactMap(\.self) + values(of: "WARC-Concurrent-To").map(Self.unbracketed)
    }

    /// Makes an exchange; without a request record, the request counts as a GET without fields.
    fileprivate func exchange(
        _ request: WARCImport.Request?,
        _ message: HTTPBlock,
        status: Int,
        body: Data
    ) -> ArchivedExchange {
        ArchivedExchange(
            method: request?.method ?? "GET",
            url: targetURI ?? "",
            requestFields: request?.fields ?? HTTPFields(),
            status: status,
            fields: message.fields,
            body: body,
            requestTime: date,
            responseTime: date
        )
    }

    /// Makes an exchange from a file without an HTTP head: the record's own fields give its media type.
    fileprivate func resource(_ block: Data) -> ArchivedExchange {
        ArchivedExchange(
            method: "GET",
            url: targetURI ?? "",
            requestFields: HTTPFields(),
            status: 200,
            fields: HTTPFields(recorded: self["Content-Type"].map { [("Content-Type", $0)] } ?? []),
            body: block,
            requestTime: date,
            responseTime: date
        )
    }
}
