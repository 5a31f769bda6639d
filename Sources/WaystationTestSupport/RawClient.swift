import Foundation
import WaystationOrigin

/// A blocking client on a socket, which sends and receives exact bytes.
public final class RawClient {
    /// How a connection ended.
    public enum Ending: Sendable { case closed, reset }
    /// The error of a connection that the server did not accept.
    public struct Refused: Error { let code: CInt }

    private var descriptor: CInt

    /// Connects to a port on `127.0.0.1`.
    ///
    /// - Throws: ``Refused`` if nothing listens there.
    public init(port: UInt16) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard LoopbackAddress.with(port, { connect(descriptor, $0, $1) }) == 0 else { throw Refused(code: errno) }
    }

    deinit { close() }

    /// Closes the connection.
    public func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Sends text.
    public func send(_ text: String) { send(bytes: Array(text.utf8)) }

    /// Sends bytes.
    ///
    /// - Returns: Whether the system took them all, which it does not once the server has closed the connection.
    @discardableResult
    public func send(bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads up to and including `end`, or up to the end of the connection if that comes first.
    public func receive(until end: String) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.reversed().starts(with: end.utf8.reversed()), recv(descriptor, &byte, 1, 0) == 1 {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads everything up to the end of the connection, and returns how it ended.
    public func receiveAll() -> (bytes: String, raw: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        var count: Int
        repeat {
            count = recv(descriptor, &byte, 1, 0)
            if count == 1 { bytes.append(byte) }
        } while count == 1
        return (String(decoding: bytes, as: UTF8.self), bytes, count == 0 ? .closed : .reset)
    }

    /// Whether the socket has no unread bytes.
    public var hasNothingToRead: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) < 0
    }
}
