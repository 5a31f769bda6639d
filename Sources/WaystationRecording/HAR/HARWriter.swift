public import Foundation

/// Writes a HAR file entry by entry, so that memory holds only one entry at a time.
///
/// Only the file's owner can read it. The file gets its name when it is complete, by ``finish()``; a writer that is
/// released before that leaves no file. Only one thread at a time may use a writer.
public final class HARWriter {
    private let file: OutputFile
    private let isIndented: Bool
    private var count = 0
    private var isOpen = true

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
        self.file = try OutputFile(file)
        self.isIndented = isIndented
        let maker = try Self.json(creator, isIndented: false)
        try self.file.write(Data(#"{"log":{"version":"\#(HARArchive.version)","creator":"#.utf8) + maker)
        try self.file.write(Data(#","entries":["#.utf8))
    }

    /// Adds an entry.
    ///
    /// - Throws: ``RecordingError`` when the entry cannot be written.
    public func append(_ entry: HARArchive.Entry) throws(RecordingError) {
        try file.write(Data((count == 0 ? "\n" : ",\n").utf8) + Self.json(entry, isIndented: isIndented))
        count += 1
    }

    /// Completes the file under its temporary name, so that ``finish()`` only renames it.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    package func complete() throws(RecordingError) {
        guard isOpen else { return }
        try file.write(Data("\n]}}\n".utf8))
        try file.complete()
        isOpen = false
    }

    /// Completes the file and gives it its name, replacing an existing file.
    ///
    /// - Throws: ``RecordingError`` when the file cannot be written.
    public func finish() throws(RecordingError) {
        try complete()
        try file.finish()
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
