import Foundation
import WaystationArchive
import WaystationStorage

/// Reads a file in order and in pieces, and decompresses it if it is gzip or Zstandard.
///
/// Memory holds one piece of the file, and what a caller asks for at once.
final class RecordInput {
    private static let chunkSize = 256 << 10

    private let more: () throws(RecordingError) -> Data
    private let members: CompressedMembers?
    private var buffer = Data()
    /// How many bytes were read, counted after decompression.
    private(set) var offset = 0

    /// Begins to read; compression is recognised by the file's first bytes.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - start: The place in the file of the first byte to read, or of the member to read first if the file is compressed.
    /// - Throws: ``RecordingError`` when the file cannot be read.
    init(_ source: any ByteSource, from start: Int = 0) throws(RecordingError) {
        let beginning = try Self.read(source, at: 0, count: 4)
        guard let members = try CompressedMembers(source, beginning: beginning, from: start) else {
            var place = start
            members = nil
            more = { () throws(RecordingError) in
                let chunk = try Self.read(source, at: place, count: Self.chunkSize)
                place += chunk.count
                return chunk
            }
            return
        }
        self.members = members
        more = { () throws(RecordingError) in try members.next() }
    }

    static func read(_ source: any ByteSource, at offset: Int, count: Int) throws(RecordingError) -> Data {
        do { return try source.read(at: offset, count: count) } catch {
            throw RecordingError(.unreadable, "the rest of the file cannot be read", cause: error)
        }
    }

    /// Takes the warnings about the compressed data since the last call; they name bytes of the compressed file.
    func takeWarnings() -> [String] { members?.takeWarnings() ?? [] }

    /// Whether the file is compressed.
    var isCompressed: Bool { members != nil }

    /// The place in a compressed file of the member that begins with the next byte to be consumed; nil if none does.
    ///
    /// It is known as soon as the byte was peeked at.
    var memberStart: Int? { members?.start(at: offset) }

    /// The next bytes, without consuming them; fewer at the end.
    func peek(_ count: Int) throws(RecordingError) -> Data {
        while buffer.count < count, try fill() {}
        return Data(buffer.prefix(count))
    }

    /// The first characters of the next bytes that are not white space, by which a format is recognised.
    func beginning() throws(RecordingError) -> String {
        String(decoding: try peek(512), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{FEFF}"]))
    }

    /// The next byte, without consuming it; nil at the end.
    func peekByte() throws(RecordingError) -> UInt8? {
        if buffer.isEmpty { guard try fill() else { return nil } }
        return buffer.first
    }

    /// Passes the bytes at hand to `body`, and consumes as many as it returns.
    ///
    /// - Returns: The consumed bytes, which share the memory of those at hand; nil at the end of the file.
    func consume(
        _ body: (UnsafeRawBufferPointer) throws(RecordingError) -> Int
    ) throws(RecordingError) -> Data? {
        if buffer.isEmpty { guard try fill() else { return nil } }
        var outcome: Result<Int, RecordingError> = .success(0)
        buffer.withUnsafeBytes { bytes in
            do throws(RecordingError) { outcome = .success(try body(bytes)) } catch { outcome = .failure(error) }
        }
        return take(try outcome.get())
    }

    /// Reads a line without its line end.
    ///
    /// Returns nil at the end of the file, or when no line ends within `limit` bytes.
    func readLine(limit: Int) throws(RecordingError) -> Data? {
        var searched = 0
        while true {
            let start = buffer.startIndex
            if let end = buffer[(start + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                guard end - start <= limit else { return nil }
                var line = take(end - start + 1).dropLast()
                if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
                return Data(line)
            }
            searched = buffer.count
            guard searched <= limit, try fill() else { return nil }
        }
    }

    /// Reads the next bytes; fewer at the end of the file.
    func read(_ count: Int) throws(RecordingError) -> Data {
        var data = Data()
        // Memory grows only with bytes that are really there, since the length in a file may be false.
        while data.count < count {
            if buffer.isEmpty { guard try fill() else { break } }
            data.append(take(min(buffer.count, count - data.count)))
        }
        return data
    }

    /// Skips bytes, and returns how many there were.
    func skip(_ count: Int) throws(RecordingError) -> Int {
        var rest = count
        while rest > 0 {
            if buffer.isEmpty { guard try fill() else { break } }
            rest -= take(min(buffer.count, rest)).count
        }
        return count - rest
    }

    private func take(_ count: Int) -> Data {
        let taken = buffer.prefix(count)
        buffer = buffer.dropFirst(count)
        offset += count
        return taken
    }

    private func fill() throws(RecordingError) -> Bool {
        let chunk = try more()
        // The consumed bytes are released with the buffer, when all of it is consumed.
        if buffer.isEmpty { buffer = chunk } else { buffer.append(chunk) }
        return !chunk.isEmpty
    }
}

/// Consecutive members of gzip (RFC 1952 §2.2) or frames of Zstandard (RFC 8878 §3), read as one sequence of bytes.
///
/// A WARC file has a member for each record, so that a reader can begin at any of them; a `.warc.zst` may begin with the
/// dictionary of all its frames, in a frame that is skipped
/// (<https://iipc.github.io/warc-specifications/specifications/warc-zstd/>).
private final class CompressedMembers {
    /// The largest window of a frame, 128 MiB, which is the largest one that the program `zstd` reads by default.
    private static let largestWindowLog: Int32 = 27
    /// The largest dictionary.
    private static let largestDictionary = 16 << 20
    /// The most starts of members that are kept; a header that is peeked at has at most as many members.
    private static let keptStarts = 4_096
    private static let dictionaryMark = Data([0x5D, 0x2A, 0x4D, 0x18])

    private let source: any ByteSource
    private let makeCodec: () -> (any ContentCodec)?
    private let isGzip: Bool
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private var codec: (any ContentCodec)?
    private var place = 0
    private var pending = 0..<0
    private var warnings: [String] = []
    private var isInPadding = false
    /// Whether the codec may have more bytes than had room in the output.
    private var mayHoldMore = false
    /// How many bytes were decompressed.
    private var decoded = 0
    /// Where the last members begin: in the decompressed bytes, and in the file.
    private var starts: [(decoded: Int, place: Int)] = []

    /// Begins to read a file that begins with these bytes; nil if it is not compressed.
    init?(_ source: any ByteSource, beginning: Data, from start: Int) throws(RecordingError) {
        self.source = source
        isGzip = beginning.starts(with: [0x1F, 0x8B])
        if isGzip {
            makeCodec = { ZlibCodec(.gzip) }
            place = start
            return
        }
        guard Frame.begins(beginning) else { return nil }
        guard let library = ZstandardLibrary.shared else {
            throw RecordingError(
                .unreadable,
                "the file is compressed with Zstandard, whose library is not installed: install libzstd1"
            )
        }
        var dictionary: [UInt8] = []
        if beginning == Self.dictionaryMark {
            dictionary = try Self.dictionary(of: source, library)
            place = 8 + (try Self.dictionaryLength(of: source))
        }
        place = max(place, start)
        makeCodec = { ZstandardCodec(library, windowLog: Self.largestWindowLog, dictionary: dictionary) }
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    /// The place of the member whose first byte is the one with this number of the decompressed bytes.
    ///
    /// Earlier members are forgotten.
    func start(at offset: Int) -> Int? {
        starts.removeAll { $0.decoded < offset }
        return starts.last { $0.decoded == offset }?.place
    }

    private static func dictionaryLength(of source: any ByteSource) throws(RecordingError) -> Int {
        let field = try RecordInput.read(source, at: 4, count: 4)
        let length = field.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard field.count == 4, length <= largestDictionary else {
            throw RecordingError(.damagedCompression, "the dictionary has \(length) bytes, more than 16 MiB")
        }
        return length
    }

    /// The dictionary at the beginning of the file, which may be compressed itself.
    private static func dictionary(
        of source: any ByteSource,
        _ library: ZstandardLibrary
    ) throws(RecordingError) -> [UInt8] {
        let bytes = try RecordInput.read(source, at: 8, count: try dictionaryLength(of: source))
        guard bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) else { return Array(bytes) }
        do { return Array(try ContentCoding.decode(bytes, ["zstd"], limit: largestDictionary)) } catch {
            throw RecordingError(.damagedCompression, "the dictionary cannot be read: \(error.detail)")
        }
    }

    /// Reads the next bytes; empty at the end.
    func next() throws(RecordingError) -> Data {
        while true {
            if pending.isEmpty, !mayHoldMore { guard try load() else { return Data() } }
            guard let codec = try openCodec() else { continue }
            let progress: CodecProgress
            do {
                progress = try codec.decode(UnsafeRawBufferPointer(rebasing: input[pending]), into: output)
                guard codec.isComplete || pending.isEmpty || progress.taken > 0 || progress.written > 0 else {
                    throw CodecError.damaged(nil)
                }
            } catch {
                let start = place - pending.count
                throw RecordingError(
                    .damagedCompression,
                    "the compressed data are damaged near byte \(start) of the file",
                    cause: error
                )
            }
            pending = (pending.lowerBound + progress.taken)..<pending.upperBound
            if codec.isComplete { self.codec = nil }
            mayHoldMore = !codec.isComplete && progress.written == output.count
            decoded += progress.written
            if progress.written > 0 { return Data(output[..<progress.written]) }
        }
    }

    /// Loads more of the file; false at its end.
    private func load() throws(RecordingError) -> Bool {
        let chunk = try RecordInput.read(source, at: place, count: input.count)
        guard !chunk.isEmpty else {
            guard codec == nil else {
                throw RecordingError(.truncated, "the file ends within compressed data, at byte \(place)")
            }
            return false
        }
        input.copyBytes(from: chunk)
        place += chunk.count
        pending = 0..<chunk.count
        return true
    }

    /// The codec of the present member; nil if padding was skipped in its place.
    private func openCodec() throws(RecordingError) -> (any ContentCodec)? {
        if let codec { return codec }
        // Copies from tapes and from some object stores are padded with zeros.
        if Self.isPadding(input[pending.lowerBound]) {
            if !isInPadding {
                let start = place - pending.count
                warnings.append("padding follows the compressed data, from byte \(start) of the file on; it is skipped")
            }
            isInPadding = true
            let end = input[pending].firstIndex { !Self.isPadding($0) } ?? pending.upperBound
            pending = end..<pending.upperBound
            return nil
        }
        isInPadding = false
        guard let made = makeCodec() else {
            throw RecordingError(.unreadable, "there is no memory to decompress the file")
        }
        codec = made
        // Only the members in the bytes at hand are asked for, so a few are kept.
        if starts.count >= Self.keptStarts { starts.removeFirst(Self.keptStarts / 2) }
        starts.append((decoded, place - pending.count))
        return made
    }

    /// Whether a byte between members is padding; no member begins with a zero or a line end.
    private static func isPadding(_ byte: UInt8) -> Bool { byte == 0 || byte == 0x0A || byte == 0x0D }
}
