import Foundation
import WaystationStorage

/// A request line and its fields.
struct RequestHead: Sendable {
    let method: String
    let target: String
    let version: String
    let fields: [ScriptedOrigin.Field]

    /// Reads a head from its lines, without the empty line at its end; nil when the lines are not a valid head (RFC
    /// 9112, section 3).
    init?(lines: [String]) {
        guard let parts = lines.first?.split(separator: " ", omittingEmptySubsequences: false), parts.count == 3,
            !parts[0].isEmpty, !parts[1].isEmpty, parts[2].hasPrefix("HTTP/")
        else { return nil }
        var fields: [ScriptedOrigin.Field] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append(.init(String(line[..<colon]), value))
        }
        method = String(parts[0])
        target = String(parts[1])
        version = String(parts[2])
        self.fields = fields
    }

    func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// Reads requests, one after another, from the bytes of a connection.
struct RequestReader {
    enum Failure: Error { case malformed, endOfStream }

    private static let headLimit = 1 << 20

    private let receive: () -> [UInt8]?
    private var buffer: [UInt8] = []
    private var position = 0

    /// - Parameter receive: Returns the next bytes, or nil at the end of the stream.
    init(receive: @escaping () -> [UInt8]?) { self.receive = receive }

    /// Reads the next head; returns nil when the stream ends before its first byte.
    mutating func readHead() throws(Failure) -> RequestHead? {
        guard try hasMore() else { return nil }
        // A TLS handshake begins with this byte, and has no lines that would end.
        guard buffer[position] != 0x16 else { throw .malformed }
        var lines: [String] = []
        var size = 0
        while true {
            let line = try readLine()
            size += line.utf8.count
            // RFC 9112, section 2.2: an empty line before the request line is ignored.
            if line.isEmpty, lines.isEmpty { continue }
            if line.isEmpty { break }
            guard size <= Self.headLimit else { throw .malformed }
            lines.append(line)
        }
        guard let head = RequestHead(lines: lines) else { throw .malformed }
        return head
    }

    /// Reads the body that follows a head (RFC 9112, section 6.3).
    mutating func readBody(
        of head: RequestHead,
        into take: (ArraySlice<UInt8>) -> Void
    ) throws(Failure) {
        if head.value(of: "Transfer-Encoding")?.lowercased() == "chunked" { return try readChunks(into: take) }
        guard let length = head.value(of: "Content-Length") else { return }
        guard let count = Int(length), count >= 0 else { throw .malformed }
        try read(count, into: take)
    }

    private mutating func readChunks(into take: (ArraySlice<UInt8>) -> Void) throws(Failure) {
        while true {
            let size = try readLine().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Int(size, radix: 16), count >= 0 else { throw .malformed }
            if count == 0 { break }
            try read(count, into: take)
            guard try readLine().isEmpty else { throw .malformed }
        }
        while try !readLine().isEmpty {}  // trailers
    }

    /// Reads a line without its line end.
    mutating func readLine() throws(Failure) -> String {
        var line: [UInt8] = []
        while true {
            guard try hasMore() else { throw .endOfStream }
            if let end = buffer[position...].firstIndex(of: UInt8(ascii: "\n")) {
                line += buffer[position..<end]
                position = end + 1
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(decoding: line, as: UTF8.self)
            }
            line += buffer[position...]
            position = buffer.count
            guard line.count <= Self.headLimit else { throw .malformed }
        }
    }

    /// Reads exactly `count` bytes.
    mutating func read(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        try read(count) { bytes += $0 }
        return bytes
    }

    private mutating func read(_ count: Int, into take: (ArraySlice<UInt8>) -> Void) throws(Failure) {
        var rest = count
        while rest > 0 {
            guard try hasMore() else { throw .endOfStream }
            let end = position + min(buffer.count - position, rest)
            take(buffer[position..<end])
            rest -= end - position
            position = end
        }
    }

    /// Returns the bytes that arrived after what was read so far, and removes them.
    mutating func takeRest() -> ArraySlice<UInt8> {
        defer { position = buffer.count }
        return buffer[position...]
    }

    private mutating func hasMore() throws(Failure) -> Bool {
        if position < buffer.count { return true }
        guard let bytes = receive() else { return false }
        buffer = bytes
        position = 0
        return true
    }
}

/// The body of a request as it arrives: its bytes, or only their SHA-256.
struct ReceivedBody {
    private(set) var data = Data()
    private(set) var length = 0
    private var hash: MessageDigest?

    init(isDigested: Bool) {
        if isDigested { hash = MessageDigest() }
    }

    /// The body's SHA-256; nil unless the body is digested.
    var digest: Data? { hash.map { Data($0.bytes) } }

    mutating func append(_ bytes: ArraySlice<UInt8>) {
        length += bytes.count
        guard hash != nil else { return data.append(contentsOf: bytes) }
        bytes.withUnsafeBytes { hash?.update($0) }
    }
}
