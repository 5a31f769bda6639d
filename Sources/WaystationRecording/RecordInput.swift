import Foundation
import WaystationArchive
import WaystationStorage

/// Reads a file in order and in pieces, and decompresses it if it is gzip.
final class RecordInput {
    private static let chunkSize = 256 << 10

    private let more: () throws(RecordingError) -> Data
    private var buffer = Data()
    /// How many bytes were read, counted after decompression.
    private(set) var offset = 0

    /// Begins to read; gzip is recognised by the file's first bytes.
    init(_ source: any ByteSource) throws(RecordingError) {
        let isPacked = try Self.read(source, at: 0, count: 2) == Data([0x1F, 0x8B])
        if isPacked {
            let members = try GzipMembers(source)
            more = { () throws(RecordingError) in try members.next() }
        } else {
            var place = 0
            more = { () throws(RecordingError) in
                let chunk = try Self.read(source, at: place, count: Self.chunkSize)
                place += chunk.count
                return chunk
            }
        }
    }

    static func read(_ source: any ByteSource, at offset: Int, count: Int) throws(RecordingError) -> Data {
        do { return try source.read(at: offset, count: count) } catch {
            throw RecordingError(.unreadable, "the rest of the file cannot be read", cause: error)
        }
    }

    /// The next bytes, without consuming them; fewer at the end.
    func peek(_ count: Int) throws(RecordingError) -> Data {
        while buffer.count < count, try fill() {}
        return Data(buffer.prefix(count))
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

    /// Reads the rest; returns nil when it is longer than `limit`.
    func readAll(atMost limit: Int) throws(RecordingError) -> Data? {
        let data = try read(limit)
        return try peek(1).isEmpty ? data : nil
    }

    private func take(_ count: Int) -> Data {
        let taken = buffer.prefix(count)
        buffer = buffer.dropFirst(count)
        offset += count
        return taken
    }

    private func fill() throws(RecordingError) -> Bool {
        let chunk = try more()
        // A new buffer is made, so that the consumed bytes are released.
        buffer = buffer.isEmpty ? chunk : Data(buffer) + chunk
        return !chunk.isEmpty
    }
}

/// Consecutive gzip members (RFC 1952 §2.2), read as one sequence of bytes.
private final class GzipMembers {
    private let source: any ByteSource
    private let inflater: Inflater
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private var place = 0
    private var pending = 0..<0
    private var isInMember = false

    init(_ source: any ByteSource) throws(RecordingError) {
        self.source = source
        do { inflater = try Inflater(.gzip) } catch { throw RecordingError(.unreadable, error.message, cause: error) }
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Reads the next bytes; empty at the end.
    func next() throws(RecordingError) -> Data {
        while true {
            if pending.isEmpty {
                let chunk = try RecordInput.read(source, at: place, count: input.count)
                guard !chunk.isEmpty else {
                    guard !isInMember else {
                        throw RecordingError(.truncated, "the file ends within compressed data, at byte \(place)")
                    }
                    return Data()
                }
                input.copyBytes(from: chunk)
                place += chunk.count
                pending = 0..<chunk.count
            }
            if !isInMember {
                inflater.reset()
                isInMember = true
            }
            let step: Inflater.Step?
            let unread = UnsafeRawBufferPointer(rebasing: input[pending])
            do { step = try inflater.step(from: unread, into: output) } catch {
                throw RecordingError(.unreadable, error.message, cause: error)
            }
            guard let step, step.isAtEnd || step.consumed > 0 || step.produced > 0 else {
                let start = place - pending.count
                throw RecordingError(
                    .damagedCompression,
                    "the compressed data are damaged near byte \(start) of the file"
                )
            }
            pending = (pending.lowerBound + step.consumed)..<pending.upperBound
            if step.isAtEnd { isInMember = false }
            if step.produced > 0 { return Data(output[..<step.produced]) }
        }
    }
}
