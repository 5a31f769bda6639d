import Foundation
import GRDB
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
        try reader.unsafeRead { try Self.rows(for: key, $0) }
    }

    /// The rows of a key, newest first, read without waiting for the disk; `nil` if that is not possible.
    func rowsInMemory(for key: RequestKey) -> [Found]? {
        memoryReader?.read { try Self.rows(for: key, $0) }
    }

    private static func rows(for key: RequestKey, _ db: Database) throws -> [Found] {
        let statement = try db.cachedStatement(sql: lookup)
        let rows = try Row.fetchCursor(statement, arguments: [key.url, key.method, key.partition])
        var found: [Found] = []
        while let row = try rows.next() {
            found.append(record(row, key: key).map(Found.intact) ?? .damaged(id: integer(row, 0) ?? 0))
        }
        if found.count > 1 { found.sort(by: isNewer) }
        return found
    }

    // SQLite does not sort the rows, because its sorter would copy every body.
    private static let lookup = """
        SELECT id, status, request_time, response_time, last_used, seal, body_length, body_file,
               vary, fields, block_sums, body
        FROM responses WHERE url = ? AND method = ? AND partition = ?
        """

    private static func isNewer(_ left: Found, _ right: Found) -> Bool {
        guard case .intact(let left) = left, case .intact(let right) = right else { return false }
        return (left.head.responseTime, left.id) > (right.head.responseTime, right.id)
    }

    /// Reads a row of ``lookup`` and checks its seal and its body.
    ///
    /// GRDB's own decoding traps on values of the wrong type, which a damaged file may contain.
    private static func record(_ row: Row, key: RequestKey) -> IndexRecord? {
        guard let id = integer(row, 0), let status = integer(row, 1).flatMap(Int.init(exactly:)),
            let requestTime = integer(row, 2), let responseTime = integer(row, 3), let lastUsed = integer(row, 4),
            let seal = integer(row, 5).map(UInt64.init(bitPattern:)), let length = integer(row, 6), length >= 0,
            let bodyLength = Int(exactly: length)
        else { return nil }
        let file = String.fromDatabaseValue(row[7])
        func sealed() -> (vary: VaryKey, fields: HTTPFields, checksums: BlockChecksums)? {
            row.withBytes(8) { vary in
                row.withBytes(9) { fields in
                    row.withBytes(10) { sums in
                        let numbers = (Int(status), requestTime, responseTime, bodyLength)
                        let expected = Seal.of(
                            key: key,
                            numbers: numbers,
                            file: file,
                            fields: fields,
                            vary: vary,
                            checksums: sums
                        )
                        guard expected == seal, let record = VaryKey(encoded: vary),
                            let decoded = FieldSection.decode(fields),
                            let checksums = BlockChecksums(encoded: Data(sums), bodyLength: bodyLength)
                        else { return nil }
                        return (record, decoded, checksums)
                    }
                }
            }
        }
        guard let (vary, fields, checksums) = sealed() else { return nil }
        let body: IndexRecord.Body
        if let file {
            body = .file(file)
        } else {
            guard let data = row.withBytes(11, { Data($0) }), data.count == bodyLength,
                BlockChecksums(of: data) == checksums
            else { return nil }
            body = .inline(data)
        }
        return IndexRecord(
            id: id,
            head: StoredHead(
                key: key,
                status: status,
                headerFields: fields,
                vary: vary,
                requestTime: Date(microseconds: requestTime),
                responseTime: Date(microseconds: responseTime)
            ),
            bodyLength: bodyLength,
            checksums: checksums,
            body: body,
            lastUsed: Date(microseconds: lastUsed),
            seal: seal
        )
    }

    static func integer(_ row: Row, _ column: Int) -> Int64? { Int64.fromDatabaseValue(row[column]) }
}

extension Row {
    /// Gives access to the bytes of a column without copying them; an empty blob has no bytes, null gives `nil`.
    fileprivate func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        guard !hasNull(atIndex: column) else { return nil }
        return try? withUnsafeData(atIndex: column) { data in
            data?.withUnsafeBytes { body($0) }
        }
    }
}
