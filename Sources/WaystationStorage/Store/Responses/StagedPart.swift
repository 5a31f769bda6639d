import Foundation
import HTTPTypes
import WaystationHTTP

/// The record beside a body that is being written: with it, what had arrived when the process was killed becomes a part.
///
/// It is a file whose name is that of the body with `.part` added: the XXH64 of the next line as 16 hexadecimal digits, a
/// space, a line of JSON, and then the XXH64 of each whole block that was written, as in `block_sums`.
///
/// ```
/// 5f0c9d8e5b7a4321 {"version":1,"boot":"5e8c…","method":"GET","url":"https://cdn.example/film.mp4","status":200,…}
/// ```
struct StagedPart: Sendable {
    private static let version = 1

    /// The head of the response, under its key.
    let head: StoredHead
    /// The place of the body in the content of the response.
    let offset: Int

    private struct Line: Codable {
        var version: Int
        /// The boot of the machine during which the body was written; nil if the system does not name it.
        var boot: String?
        var method: String
        var url: String
        var partition: String
        var status: Int
        /// ``StoredHead/contentLength``.
        var length: Int?
        var offset: Int
        var requestTime: Int64
        var responseTime: Int64
        /// The columns `fields` and `vary`, in base64.
        var fields: Data
        var vary: Data
    }

    /// Makes the record of a response; nil if its parts could not be joined.
    init?(_ head: StoredHead, offset: Int) {
        guard head.part(at: offset, length: 1) != nil else { return nil }
        self.head = head
        self.offset = offset
    }

    /// The first line.
    func encoded(boot: String? = StagedPart.boot) -> Data {
        let line = Line(
            version: Self.version,
            boot: boot,
            method: head.key.method,
            url: head.key.url,
            partition: head.key.partition,
            status: head.status,
            length: head.contentLength,
            offset: offset,
            requestTime: head.requestTime.microseconds,
            responseTime: head.responseTime.microseconds,
            fields: FieldSection.encode(head.headerFields),
            vary: head.vary.encoded
        )
        // A value of numbers, text and bytes can always be written.
        let json = (try? JSONEncoder().encode(line)) ?? Data()
        return Data(Self.digest(json).utf8) + Data(" ".utf8) + json + Data("\n".utf8)
    }

    /// The name of the present boot of the machine (random(4)).
    static let boot = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        .trimmingSpace()

    private static func digest(_ json: Data) -> String {
        let digits = String(XXH64.of(json), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Reads a record.
    ///
    /// - Parameter file: The contents of its file.
    /// - Returns: The record, the checksums of the blocks, and whether the machine has run since then, so that no power cut
    ///   can have changed the body; nil if it is no record of this version, or was damaged.
    static func read(_ file: Data) -> (part: StagedPart, checksums: [UInt64], isSameBoot: Bool)? {
        guard let end = file.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let json = file[file.startIndex..<end].dropFirst(17)
        guard file.prefix(16) == Data(digest(Data(json)).utf8),
            let line = try? JSONDecoder().decode(Line.self, from: json), line.version == version,
            let fields = line.fields.withUnsafeBytes(FieldSection.decode),
            let vary = line.vary.withUnsafeBytes({ VaryKey(encoded: $0) })
        else { return nil }
        let head = StoredHead(
            key: RequestKey(method: line.method, url: line.url, partition: line.partition),
            status: line.status,
            headerFields: fields,
            vary: vary,
            requestTime: Date(microseconds: line.requestTime),
            responseTime: Date(microseconds: line.responseTime),
            contentLength: line.length
        )
        guard let part = StagedPart(head, offset: line.offset) else { return nil }
        let sums = file[end...].dropFirst()
        let checksums = stride(from: 0, to: sums.count - sums.count % 8, by: 8).map { place in
            sums.dropFirst(place).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        return (part, checksums, line.boot != nil && line.boot == boot)
    }
}

extension ResponseStore {
    /// Stores what had arrived of the responses that another process was writing when it was killed.
    ///
    /// Each becomes a part that answers nothing until its origin confirms it: it may have been invalidated meanwhile. A
    /// record or a body that was damaged is left out.
    ///
    /// Call it on the write queue.
    ///
    /// - Parameters:
    ///   - directory: The staging directory of the process.
    ///   - index: The index.
    func salvage(_ directory: String, into index: StoreIndex) {
        let names = (try? environment.fileSystem.contents(of: directory)) ?? []
        for name in names where name.hasSuffix(BodyStaging.recordSuffix) {
            let body = "\(directory)/\(name.dropLast(BodyStaging.recordSuffix.count))"
            do {
                guard let part = try salvage(body, into: index) else { continue }
                let length = part.contentLength ?? 0
                let detail = "\(length) bytes, which had arrived when the process that loaded them ended"
                report(StoreEvent(.stored, key: part.key, bytes: length, detail: detail))
            } catch {
                let detail = "a body that a process has left could not be stored: \(error)"
                report(StoreEvent(.unavailable, detail: detail))
            }
        }
    }

    private func salvage(_ body: String, into index: StoreIndex) throws -> StoredHead? {
        let fileSystem = environment.fileSystem
        let record = try fileSystem.openFile(body + BodyStaging.recordSuffix)
        let text = try fileSystem.read(record, at: 0, count: fileSystem.length(of: record))
        guard let (staged, written, isSameBoot) = StagedPart.read(text), !isExpired(staged.head.responseTime, at: now())
        else {
            return nil
        }
        guard let status = try fileSystem.status(of: body) else { return nil }
        // The process may have been killed when the row of the body was on disk already.
        guard try !index.rows(for: staged.head.key).contains(where: { try names($0, status.identity) }) else {
            return nil
        }
        let file = try fileSystem.openFileForAppending(body)
        // A checksum is written after its block.
        var sums = written.prefix(try fileSystem.length(of: file) / BlockChecksums.blockSize)
        if !isSameBoot {
            sums = sums.prefix(
                try sums.indices.firstIndex { index in
                    let start = index * BlockChecksums.blockSize
                    return try XXH64.of(fileSystem.read(file, at: start, count: BlockChecksums.blockSize))
                        != sums[index]
                } ?? sums.count
            )
        }
        let checksums = BlockChecksums(values: Array(sums))
        let length = sums.count * BlockChecksums.blockSize
        guard let part = staged.head.part(at: staged.offset, length: length)?.unconfirmed,
            length <= largestBody, let name = BodyName(RandomName.make().inShard)
        else { return nil }
        var source = body
        if status.links > 1 {
            // Another process may have given the file to a response with the same body.
            source += ".copy"
            let copy = try fileSystem.createFile(source)
            for place in stride(from: 0, to: length, by: BlockChecksums.blockSize) {
                try fileSystem.write(fileSystem.read(file, at: place, count: BlockChecksums.blockSize), to: copy)
            }
        } else {
            try fileSystem.truncate(file, to: length)
        }
        let row = EncodedRow(part, bodyLength: length, bodyFile: name.text, checksums: checksums)
        _ = try index.insert(row, lastUsed: now(), maximumVariants: limits.maximumVariants) {
            try fileSystem.createDirectory(layout.directory(of: name))
            try fileSystem.rename(source, to: layout.path(of: name))
        }
        return part
    }

    /// Whether a row names the body file with this identity.
    private func names(_ found: StoreIndex.Found, _ identity: FileIdentity) throws -> Bool {
        guard case .intact(let record) = found, case .file(let name) = record.body, let path = layout.body(name) else {
            return false
        }
        return try environment.fileSystem.identity(of: path) == identity
    }
}

extension String {
    /// The name of a body file, below the directory of its first two digits.
    fileprivate var inShard: String { "\(prefix(2))/\(self)" }
}
