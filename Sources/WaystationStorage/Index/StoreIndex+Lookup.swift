import Foundation
import HTTPTypes
import WaystationCaching

extension StoreIndex {
    /// One row that a look-up found.
    enum Found {
        case intact(IndexRecord)
        /// A row that differs from what was written.
        case damaged(id: Int64)
    }

    /// The rows of a key, newest first.
    func rows(for key: RequestKey) throws -> [Found] {
        try reader.use { try rows(for: key, by: $0.statement(Self.lookup)) }
    }

    /// The rows of a key, newest first, read without waiting for the disk; `nil` if that is not possible.
    func rowsInMemory(for key: RequestKey) -> [Found]? {
        memoryReader?.read { try rows(for: key, by: $0) }
    }

    private func rows(for key: RequestKey, by query: Statement) throws -> [Found] {
        var found: [Found] = []
        try query.forEachRow([.text(key.url), .text(key.method), .text(key.partition)]) { row in
            found.append(record(row, key: key).map(Found.intact) ?? .damaged(id: row.integer(0) ?? 0))
        }
        if found.count > 1 { found.sort(by: Self.isNewer) }
        return found
    }

    /// The query for the rows of a key.
    ///
    /// SQLite does not sort the rows, because its sorter would copy every body.
    static let lookup = """
        SELECT id, status, request_time, response_time, last_used, seal, body_length, body_file,
               vary, fields, block_sums, body
        FROM responses WHERE url = ? AND method = ? AND partition = ?
        """

    private static func isNewer(_ left: Found, _ right: Found) -> Bool {
        guard case .intact(let left) = left, case .intact(let right) = right else { return false }
        return (left.head.responseTime, left.id) > (right.head.responseTime, right.id)
    }

    /// Reads a row of ``lookup`` and checks its seal and its body.
    private func record(_ row: Row, key: RequestKey) -> IndexRecord? {
        guard let id = row.integer(0), let status = row.integer(1).flatMap(Int.init(exactly:)),
            let requestTime = row.integer(2), let responseTime = row.integer(3), let lastUsed = row.integer(4),
            let seal = row.integer(5).map(UInt64.init(bitPattern:)), let length = row.integer(6), length >= 0,
            let bodyLength = Int(exactly: length)
        else { return nil }
        let file = row.text(7)
        func sealed() -> KnownHeads.Known? {
            row.withBytes(8) { vary in
                row.withBytes(9) { fields in
                    row.withBytes(10) { sums in
                        let numbers = (status, requestTime, responseTime, bodyLength)
                        let expected = Seal.of(
                            key: key,
                            numbers: numbers,
                            file: file,
                            fields: fields,
                            vary: vary,
                            checksums: sums
                        )
                        guard expected == seal else { return nil }
                        if let known = heads.head(id: id, seal: seal), known.head.key == key { return known }
                        guard let record = VaryKey(encoded: vary), let decoded = FieldSection.decode(fields),
                            let checksums = BlockChecksums(encoded: sums, bodyLength: bodyLength)
                        else { return nil }
                        let head = StoredHead(
                            key: key,
                            status: status,
                            headerFields: decoded,
                            vary: record,
                            requestTime: Date(microseconds: requestTime),
                            responseTime: Date(microseconds: responseTime)
                        )
                        let known = KnownHeads.Known(head: head, checksums: checksums, prepared: PreparedValue())
                        heads.keep(known, id: id, seal: seal)
                        return known
                    }
                }
            }
        }
        guard let known = sealed() else { return nil }
        let body: IndexRecord.Body
        if let file {
            body = .file(file)
        } else {
            let data: Data? = row.withBytes(11) { bytes in
                bytes.count == bodyLength && known.checksums.match(bytes) ? Data(bytes) : nil
            }
            guard let data else { return nil }
            body = .inline(data)
        }
        return IndexRecord(
            id: id,
            head: known.head,
            bodyLength: bodyLength,
            checksums: known.checksums,
            body: body,
            lastUsed: Date(microseconds: lastUsed),
            seal: seal,
            prepared: known.prepared
        )
    }
}
