public import Foundation
import WaystationHTTP
public import WaystationStorage

extension StoreInspector {
    /// Writes the stored responses to a file, without secrets; only the file's owner can read it.
    ///
    /// Responses whose keys have a text of the app's own or a body are left out: no format has a place for these, and an
    /// import would take such a response for that of its URL alone.
    ///
    /// Parts of a response that together have all of its bytes are written as one response (200). Other parts are written
    /// as they are stored: each is a 206 with its `Content-Range`, to a request with the `Range`.
    ///
    /// - Parameters:
    ///   - file: The file to make; if it exists, it is replaced.
    ///   - format: The format of the file.
    ///   - scope: The responses to write. No format says which login a response belongs to, so the default is only the
    ///     responses that all logins share.
    ///   - redaction: The secrets that are left out.
    /// - Returns: How many responses were written.
    /// - Throws: `StoreError` when a response cannot be read or is damaged; ``RecordingError`` when the file cannot be
    ///   written. No file is left then.
    @discardableResult
    public func export(
        to file: URL,
        as format: RecordingFormat,
        scope: ResponseScope = .partition(""),
        redaction: Redaction = .standard
    ) throws -> Int {
        let output = try RecordingOutput(file, as: format, created: Date())
        var count = 0
        var rest = try entries(in: scope).filter(\.key.additions.isEmpty)[...]
        // The entries of a key follow each other.
        while let key = rest.first?.key {
            let entries = rest.prefix { $0.key == key }
            rest = rest.dropFirst(entries.count)
            let (joined, others) = try joined(Array(entries))
            for parts in joined {
                let body = DataSource(try contents(of: parts, among: entries))
                if try output.append(parts.head, body: body, redaction) { count += 1 }
            }
            for entry in others {
                guard let response = try response(entry) else { continue }
                let body = StoredBodySource(body: response.body)
                if try output.append(response.head, body: body, redaction) { count += 1 }
            }
        }
        try output.finish()
        return count
    }

    /// The parts among the responses of a key that together are whole, and the other responses, without parts that their
    /// origin has yet to confirm.
    private func joined(_ entries: [StoredEntry]) throws -> (joined: [StoredParts], others: [StoredEntry]) {
        guard entries.contains(where: { $0.part != nil }) else { return ([], entries) }
        // A response that an app has removed meanwhile is left out. The bodies are not kept open, as there may be many.
        let heads = try entries.map { try response($0)?.head }
        let isConfirmed = heads.map { $0.map { !$0.isUnconfirmed } ?? false }
        let others = { (used: Set<Int>) in
            entries.indices.filter { isConfirmed[$0] && !used.contains($0) }.map { entries[$0] }
        }
        guard !isConfirmed.contains(false) else { return ([], others([])) }
        let joined = StoredParts.joined(among: heads.compactMap(\.self)).filter(\.head.isComplete)
        return (joined, others(Set(joined.flatMap(\.pieces).map(\.index))))
    }

    /// The bytes of a representation whose parts are all stored.
    private func contents(of parts: StoredParts, among entries: ArraySlice<StoredEntry>) throws -> Data {
        var contents = Data()
        for piece in parts.pieces where piece.span.upperBound > contents.count {
            guard let response = try response(entries[entries.startIndex + piece.index]) else {
                throw StoreError(.unavailable, "a part of \(parts.head.key.url) was removed while it was read")
            }
            contents += try response.body.contents().dropFirst(contents.count - piece.span.lowerBound)
        }
        return contents
    }
}

/// A stored body, read piece by piece.
private struct StoredBodySource: ByteSource {
    let body: StoredBody

    var length: Int { body.length }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        switch body {
        case .data(let data): return DataSource(data).read(at: offset, into: buffer)
        case .file(let file):
            let bytes = try file.read(at: offset, count: buffer.count)
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }
}
