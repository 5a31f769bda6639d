#if Gateway
import Foundation
import Glibc
import WaystationOrigin

/// A connection to a port of this machine that sends bytes as they stand.
final class RawConnection: Sendable {
    struct Failure: Error { let code: CInt }

    private let descriptor: CInt

    init(_ port: Int) throws {
        // The programs that other tests start do not inherit it.
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = LoopbackAddress.with(UInt16(port)) { connect(descriptor, $0, $1) }
        guard code == 0 else { throw Failure(code: errno) }
    }

    deinit { _ = Glibc.close(descriptor) }

    func send(_ text: String) { send(Data(text.utf8)) }

    /// Sends all bytes; a closed connection ends it early.
    func send(_ data: Data) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends no more bytes.
    func endSending() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    /// Ends the connection.
    func leave() { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Reads until a condition holds, or the connection ends.
    ///
    /// It waits on a thread of its own: the queues of Dispatch have few threads, which the gateway's loads need.
    func read(until isEnough: @escaping @Sendable (Data) -> Bool = { _ in false }) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var received = Data()
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while !isEnough(received) {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    received.append(contentsOf: buffer[..<count])
                }
                continuation.resume(returning: received)
            }
        }
    }
}

/// A response as it arrived.
struct RawResponse {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: Data

    /// Parses the bytes of one response; nil if they have no head.
    init?(_ bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        self.status = status
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
        let rest = bytes[end.upperBound...]
        let isChunked = fields.contains { $0.name.lowercased() == "transfer-encoding" }
        body = isChunked ? Self.joined(chunks: rest) : Data(rest)
    }

    subscript(_ name: String) -> String? { all(name).first }

    func all(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }

    /// Whether the body has the length that its head states.
    var isWhole: Bool { self["Content-Length"].flatMap { Int($0) }.map { body.count >= $0 } ?? false }

    var text: String { String(decoding: body, as: UTF8.self) }

    private static func joined(chunks bytes: Data) -> Data {
        var rest = bytes
        var body = Data()
        while let end = rest.range(of: Data("\r\n".utf8)),
            let size = Int(String(decoding: rest[rest.startIndex..<end.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            body.append(rest[end.upperBound...].prefix(size))
            rest = rest[end.upperBound...].dropFirst(size + 2)
        }
        return body
    }
}
#endif
