/// HTTP/2 frames as bytes, so that a server can break every rule (RFC 9113 §4.1 and §6).
public enum RawFrames {
    /// A frame of any type.
    public static func frame(_ type: UInt8, flags: UInt8 = 0, on id: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + number(id) + payload
    }

    /// A number of 32 bits.
    public static func number(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// DATA, padded if `padding` is given.
    public static func data(_ id: UInt32, _ bytes: [UInt8] = [], isLast: Bool = false, padding: Int? = nil) -> [UInt8] {
        let flags: UInt8 = (isLast ? 0x1 : 0) | (padding == nil ? 0 : 0x8)
        guard let padding else { return frame(0, flags: flags, on: id, bytes) }
        return frame(0, flags: flags, on: id, [UInt8(padding)] + bytes + [UInt8](repeating: 0, count: padding))
    }

    /// HEADERS with a whole block of fields.
    public static func headers(_ id: UInt32, _ fields: [(String, String)], isLast: Bool = false) -> [UInt8] {
        frame(1, flags: 0x4 | (isLast ? 0x1 : 0), on: id, block(fields))
    }

    /// RST_STREAM.
    public static func reset(_ id: UInt32, _ code: UInt32) -> [UInt8] { frame(3, on: id, number(code)) }

    /// SETTINGS with pairs of identifier and value.
    public static func settings(_ values: [(UInt16, UInt32)] = []) -> [UInt8] {
        frame(4, values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + number($0.1) })
    }

    /// The acknowledgement of SETTINGS.
    public static let settingsAcknowledgement = frame(4, flags: 0x1)

    /// PING.
    public static func ping(isAcknowledgement: Bool = false) -> [UInt8] {
        frame(6, flags: isAcknowledgement ? 0x1 : 0, [UInt8](repeating: 0, count: 8))
    }

    /// GOAWAY with the last stream that the server works on.
    public static func goAway(last: UInt32, _ code: UInt32 = 0) -> [UInt8] { frame(7, number(last) + number(code)) }

    /// WINDOW_UPDATE.
    public static func windowUpdate(_ id: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, on: id, number(increment))
    }

    /// A header block of literals without indexing (RFC 7541 §6.2.2).
    public static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + string($0.0) + string($0.1) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let count = text.utf8.count
        guard count >= 127 else { return [UInt8(count)] + Array(text.utf8) }
        var prefix: [UInt8] = [127]
        var rest = count - 127
        while rest >= 128 {
            prefix.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return prefix + [UInt8(rest)] + Array(text.utf8)
    }
}

/// An HTTP/2 frame that a client sent.
public struct SentFrame: Equatable, Sendable, CustomStringConvertible {
    /// The type (RFC 9113 §6).
    public var type: UInt8
    /// The flags, by the frame's type.
    public var flags: UInt8
    /// The stream; 0 for the connection.
    public var id: UInt32
    /// The bytes after the frame header.
    public var payload: [UInt8]

    /// Whether the frame ends its stream's request.
    public var isLast: Bool { flags & 0x1 != 0 }
    /// Type, flags, stream and size.
    public var description: String { "frame \(type) flags \(flags) on \(id) of \(payload.count) bytes" }

    /// The number at an offset of the payload.
    public func number(at offset: Int = 0) -> UInt32 {
        payload.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// RST_STREAM.
    public static func reset(_ id: UInt32, _ code: UInt32) -> SentFrame {
        SentFrame(type: 3, flags: 0, id: id, payload: RawFrames.number(code))
    }

    /// WINDOW_UPDATE.
    public static func windowUpdate(_ id: UInt32, _ increment: UInt32) -> SentFrame {
        SentFrame(type: 8, flags: 0, id: id, payload: RawFrames.number(increment))
    }

    /// Whether the frame acknowledges SETTINGS or a PING.
    public var isAcknowledgement: Bool { flags & 0x1 != 0 }

    /// Makes a frame.
    public init(type: UInt8, flags: UInt8, id: UInt32, payload: [UInt8]) {
        self.type = type
        self.flags = flags
        self.id = id
        self.payload = payload
    }

    /// Splits bytes into frames.
    public static func parse(_ bytes: [UInt8]) -> [SentFrame] {
        var rest = bytes
        return takeAll(from: &rest)
    }

    /// Takes the whole frames from the front of bytes, and leaves the beginning of the next one.
    public static func takeAll(from bytes: inout [UInt8]) -> [SentFrame] {
        var frames: [SentFrame] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            guard rest.count >= 9 + length else { break }
            let id = header[5...8].reduce(0) { $0 << 8 | UInt32($1) }
            frames.append(
                SentFrame(type: header[3], flags: header[4], id: id, payload: Array(rest.dropFirst(9).prefix(length)))
            )
            rest = rest.dropFirst(9 + length)
        }
        bytes = Array(rest)
        return frames
    }
}
