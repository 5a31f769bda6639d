public import Foundation
import WaystationHTTP
public import WaystationStorage

/// Writes a HAR file entry by entry, so that memory holds only one entry at a time.
///
/// Only the file's owner can read it. The file gets its name when it is complete, by ``finish()``; a writer that is
/// released before that leaves no file. Only one thread at a time may use a writer.
public final class HARWriter {
    private let file: URL
    private let unfinished: URL
    private let handle: FileHandle
    private let isIndented: Bool
    private var count = 0
    private var stage = Stage.open

    private enum Stage {
        case open
        /// The whole file is on disk, under its temporary name.
        case complete
        case finished
    }

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - creator: The program that made the log; this library by default.
    ///   - isIndented: Whether each member of an entry has a line of its own, so that a version control system shows what
    ///     changed; false by default, which makes a line of each entry.
    /// - Throws: ``RecordingError`` when the URL is not a file URL, or the file cannot be made.
    public init(
        _ file: URL,
        creator: HARArchive.Creator = .waystation,
        isIndented: Bool = false
    ) throws(RecordingError) {
        if let problem = file.fileURLProblem { throw RecordingError(.unwritable, problem) }
        self.file = file
        self.isIndented = isIndented
        unfinished = file.deletingLastPathComponent()
            .appending(path: ".\(file.lastPathComponent).\(UUID().uuidString)")
        let path = unfinished.path(percentEncoded: false)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: attributes),
            let handle = FileHandle(forWritingAtPath: path)
        else {
            throw RecordingError(
                .unwritable,
                "\(file.path) cannot be made: check that its folder exists and is writable"
            )
        }
        self.handle = handle
        let maker = try Self.json(creator, isIndented: false)
        try write(Data(#"{"log":{"version":"\#(HARArchive.version)","creator":"#.utf8) + maker)
        try write(Data(#","entries":["#.utf8))
    }

    deinit { if stage != .finished { discard() } }

    /// Adds an entry.
    ///
    /// - Throws: ``RecordingError`` when the entry cannot be written.
    public func append(_ entry: HARArchive.Entry) throws(RecordingError) {
        try write(Data((count == 0 ? "\n" : ",\n").utf8) + Self.json(entry, isIndented: isIndented))
        count += 1
    }

    /// Completes the file under its temporary name, so that ``finish()`` only renames it.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    package func complete() throws(RecordingError) {
        guard stage == .open else { return }
        try write(Data("\n]}}\n".utf8))
        do {
            try handle.synchronize()
            try handle.close()
        } catch { throw failure(error) }
        stage = .complete
    }

    /// Completes the file and gives it its name, replacing an existing file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    public func finish() throws(RecordingError) {
        guard stage != .finished else { return }
        try complete()
        do {
            try LocalFileSystem().rename(
                unfinished.path(percentEncoded: false),
                to: file.path(percentEncoded: false)
            )
        } catch { throw failure(error) }
        stage = .finished
    }

    private func write(_ data: Data) throws(RecordingError) {
        do { try handle.write(contentsOf: data) } catch { throw failure(error) }
    }

    private func failure(_ error: any Error) -> RecordingError {
        RecordingError(.unwritable, "\(file.path) cannot be written", cause: error)
    }

    private func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(at: unfinished)
    }

    private static func json(_ value: some Encodable, isIndented: Bool) throws(RecordingError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        do { return try encoder.encode(value) } catch {
            throw RecordingError(.unwritable, "an exchange has numbers that JSON cannot represent", cause: error)
        }
    }
}

extension HARArchive {
    /// Writes the log to a file that only its owner can read; see ``HARWriter``.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    public func write(to file: URL) throws(RecordingError) {
        let writer = try HARWriter(file, creator: creator)
        for entry in entries { try writer.append(entry) }
        try writer.finish()
    }
}

extension StoreInspector {
    /// Writes the stored responses to a HAR file, without secrets; see ``HARWriter``.
    ///
    /// Responses whose keys have a text of the app's own or a body are left out: a HAR has no place for these, and an
    /// import would take such a response for that of its URL alone.
    ///
    /// Parts of a response that together have all of its bytes are written as one response (200). Other parts are written
    /// as they are stored: each is a 206 with its `Content-Range`, to a request with the `Range`.
    ///
    /// - Parameters:
    ///   - file: The file to make.
    ///   - scope: The responses to write. A HAR does not say which login a response belongs to, so the default is only
    ///     the responses that all logins share.
    ///   - redaction: The secrets that are left out.
    /// - Returns: How many responses were written.
    /// - Throws: `StoreError` when a response cannot be read or is damaged; ``RecordingError`` when the file cannot be
    ///   written. No file is left then.
    @discardableResult
    public func exportHAR(
        to file: URL,
        scope: ResponseScope = .partition(""),
        redaction: Redaction = .standard
    ) throws -> Int {
        let writer = try HARWriter(file)
        var count = 0
        var rest = try entries(in: scope).filter(\.key.additions.isEmpty)[...]
        // The entries of a key follow each other.
        while let key = rest.first?.key {
            let entries = rest.prefix { $0.key == key }
            rest = rest.dropFirst(entries.count)
            let (joined, others) = try joined(Array(entries))
            for parts in joined {
                try writer.append(HARArchive.Entry(parts.head, try contents(of: parts, among: entries), redaction))
            }
            for entry in others {
                guard let response = try response(entry) else { continue }
                try writer.append(HARArchive.Entry(response.head, try response.body.contents(), redaction))
                count += 1
            }
            count += joined.count
        }
        try writer.finish()
        return count
    }

    /// The parts among the responses of a key that together are whole, and the other responses.
    private func joined(_ entries: [StoredEntry]) throws -> (joined: [StoredParts], others: [StoredEntry]) {
        guard entries.contains(where: { $0.part != nil }) else { return ([], entries) }
        // A response that an app has removed meanwhile is left out. The bodies are not kept open, as there may be many.
        let heads = try entries.map { try response($0)?.head }
        guard !heads.contains(nil) else { return ([], entries) }
        let joined = StoredParts.joined(among: heads.compactMap(\.self)).filter(\.head.isComplete)
        let used = Set(joined.flatMap(\.pieces).map(\.index))
        return (joined, entries.indices.filter { !used.contains($0) }.map { entries[$0] })
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
