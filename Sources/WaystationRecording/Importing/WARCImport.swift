import Foundation
import HTTPTypes
import WaystationFileSystem
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

    /// The place of a stored body, for later records that refer to it.
    private struct Place {
        let key: RequestKey
        let id: Int64
    }

    /// The most bytes of request records that an import keeps in memory.
    private static let maximumRequestBytes = 256 << 20

    private let limits: WARCReader.Limits
    private var requests: [String: Request] = [:]
    private var bodies: [String: Place] = [:]
    /// The reason why the rest of the file cannot be read; nil if all of it can.
    private var damage: RecordingError?

    /// Reads the requests, up to the first damage in the file.
    init(_ source: any ByteSource, _ limits: WARCReader.Limits) throws(RecordingError) {
        self.limits = limits
        let reader = try WARCReader(source, limits: limits)
        var bytes = 0
        while let record = recordBeforeDamage(reader) {
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
        // A file that another program is still writing may have become whole meanwhile, but its requests were not.
        if let damage { throw damage }
    }

    private mutating func store(_ record: WARCRecord, _ url: String, into recording: inout RecordingImport) async throws
    {
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        let limit = limits.maximumBlockSize.bytes
        let place = try await recording.take(url) { () throws(ImportRefusal) in
            guard let block = record.block else {
                throw ImportRefusal(.tooLarge, "the record has \(record.blockLength) bytes, but \(limit) are allowed")
            }
            guard record.isIntact else {
                throw ImportRefusal(.damagedBody, "the bytes of the record do not match its digest")
            }
            if let cut = record["WARC-Truncated"] { throw ImportRefusal(.incomplete, "the record was cut off: \(cut)") }
            guard record.type == "response" else { return record.resource(block) }
            guard !mayLackRequest else { throw Self.lostRequest }
            let message = try HTTPBlock(block)
            return try record.exchange(request, message, status: message.status(), body: message.body(limit: limit))
        }
        guard let place else { return }
        for name in [record["WARC-Payload-Digest"], record.id].compactMap(\.self) {
            bodies[name] = Place(key: place.key, id: place.id)
        }
    }

    /// Imports a record that has the same body as an earlier one, with a head of its own.
    private func revisit(_ record: WARCRecord, _ url: String, into recording: inout RecordingImport) async throws {
        let request = request(of: record)
        let mayLackRequest = mayLackRequest(record)
        let names = [record["WARC-Payload-Digest"], record["WARC-Refers-To"].map(WARCRecord.unbracketed)]
        let place = names.compactMap { $0 }.compactMap { bodies[$0] }.first
        var body: Data?
        if let place {
            body = try await recording.store.lookup(place.key).first { $0.id == place.id }?.body.contents()
        }
        try await recording.take(url) { () throws(ImportRefusal) in
            guard !mayLackRequest else { throw Self.lostRequest }
            guard let body else {
                throw ImportRefusal(
                    .revisit,
                    "the revisit record refers to another record, whose body was not imported"
                )
            }
            guard let block = record.block, !block.isEmpty else {
                throw ImportRefusal(.revisit, "the revisit record refers to another record but has no head of its own")
            }
            let message = try HTTPBlock(block)
            return try record.exchange(request, message, status: message.status(), body: body)
        }
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
