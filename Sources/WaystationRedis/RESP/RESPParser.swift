#if Redis
import Foundation
import NIOCore
import WaystationStorage

/// Reads values of RESP2 and RESP3 from bytes that arrive in any parts.
///
/// No reply takes more memory than the limits allow, however long it claims to be, and no byte is read twice. After an
/// error, nothing more can be read.
struct RESPParser {
    /// A reply that is not of the protocol, or is beyond a limit.
    struct Malformed: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// The limits of one reply.
    struct Limits {
        /// The bytes of a line, such as an error or a number.
        var line = 16 << 10
        /// The bytes of all strings of a reply.
        var bytes = 64 << 20
        /// The elements of all lists of a reply.
        var elements = 64 << 10
        /// How deep lists are nested.
        var depth = 8
    }

    private struct Frame {
        enum Kind { case list, push, attribute }

        let kind: Kind
        var missing: Int
        var elements: [RESPValue] = []
    }

    private enum Token {
        case value(RESPValue)
        case open(Frame)
    }

    private let limits: Limits
    private var buffer = ByteBuffer()
    /// The bytes of the present line that were searched for its end.
    private var searched = 0
    /// The length of the string whose bytes follow, and whether it is an error or has a format in front.
    private var string: (type: UInt8, length: Int)?
    /// The lists that are not complete, the outermost first.
    private var frames: [Frame] = []
    private var bytes = 0
    private var elements = 0
    private var failure: Malformed?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds bytes that have arrived.
    mutating func append(_ bytes: ByteBuffer) {
        // The first bytes of a reply need no copy.
        if buffer.readableBytes == 0, string == nil, frames.isEmpty {
            buffer = bytes
            return
        }
        // At most as many bytes are moved as were read since the last time.
        if buffer.readerIndex >= buffer.readableBytes { buffer.discardReadBytes() }
        buffer.writeImmutableBuffer(bytes)
    }

    /// Reads the next complete value; nil if more bytes are needed.
    mutating func next() throws(Malformed) -> RESPValue? {
        if let failure { throw failure }
        do throws(Malformed) {
            while let token = try nextToken() {
                if let value = try take(token) { return value }
            }
            return nil
        } catch {
            failure = error
            buffer = ByteBuffer()
            frames = []
            throw error
        }
    }

    /// Adds a token to the lists that are open.
    ///
    /// - Returns: The value that is complete with it, if it is a whole reply.
    private mutating func take(_ token: Token) throws(Malformed) -> RESPValue? {
        var complete: RESPValue?
        switch token {
        case .value(let value): complete = value
        case .open(let frame):
            guard frames.count < limits.depth else { throw Malformed("lists are nested deeper than \(limits.depth)") }
            frames.append(frame)
        }
        while true {
            if let value = complete.take() {
                guard !frames.isEmpty else {
                    (bytes, elements) = (0, 0)
                    return value
                }
                frames[frames.count - 1].elements.append(value)
                frames[frames.count - 1].missing -= 1
            }
            guard let last = frames.last, last.missing == 0 else { return nil }
            frames.removeLast()
            switch last.kind {
            case .list: complete = .list(last.elements)
            case .push: complete = .push(last.elements)
            // An attribute describes the value that follows, and is not counted as a value.
            case .attribute: return nil
            }
        }
    }

    /// Counts bytes of the reply that are kept until it is complete.
    private mutating func count(_ length: Int) throws(Malformed) {
        guard length <= limits.bytes - bytes else { throw Malformed("a reply has more than \(limits.bytes) bytes") }
        bytes += length
    }

    private mutating func nextToken() throws(Malformed) -> Token? {
        if let string { return try bytes(of: string).map(Token.value) }
        guard let line = try nextLine() else { return nil }
        guard let type = line.first else { throw Malformed("a reply is an empty line") }
        let rest = line.dropFirst()
        switch type {
        case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "("):
            try count(rest.count)
            return .value(.text(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: "-"):
            try count(rest.count)
            return .value(.error(String(decoding: rest, as: UTF8.self)))
        case UInt8(ascii: ":"): return .value(.number(try number(rest)))
        case UInt8(ascii: "_"):
            guard rest.isEmpty else { throw Malformed("a null has a value") }
            return .value(.null)
        case UInt8(ascii: "#"):
            guard rest.elementsEqual([UInt8(ascii: "t")]) || rest.elementsEqual([UInt8(ascii: "f")]) else {
                throw Malformed("a Boolean is neither t nor f")
            }
            return .value(.number(rest.first == UInt8(ascii: "t") ? 1 : 0))
        case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
            guard let length = try length(rest, isNullAllowed: type == UInt8(ascii: "$")) else { return .value(.null) }
            try count(length)
            string = (type, length)
            return try bytes(of: (type, length)).map(Token.value)
        case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: ">"):
            guard let count = try length(rest, isNullAllowed: type == UInt8(ascii: "*")) else { return .value(.null) }
            return .open(try frame(type == UInt8(ascii: ">") ? .push : .list, count))
        case UInt8(ascii: "%"), UInt8(ascii: "|"):
            guard let pairs = try length(rest, isNullAllowed: false), pairs <= limits.elements else {
                throw Malformed("a map has more than \(limits.elements) pairs")
            }
            return .open(try frame(type == UInt8(ascii: "|") ? .attribute : .list, 2 * pairs))
        default: throw Malformed("a reply has the unknown type \(type)")
        }
    }

    private mutating func frame(_ kind: Frame.Kind, _ count: Int) throws(Malformed) -> Frame {
        guard count <= limits.elements - elements else {
            throw Malformed("a reply has more than \(limits.elements) elements")
        }
        elements += count
        return Frame(kind: kind, missing: count)
    }

    /// The bytes of a string, once all of them have arrived.
    private mutating func bytes(of string: (type: UInt8, length: Int)) throws(Malformed) -> RESPValue? {
        guard buffer.readableBytes >= string.length + 2 else { return nil }
        guard var slice = buffer.readSlice(length: string.length), buffer.readInteger(as: UInt16.self) == 0x0D0A else {
            throw Malformed("a string is longer than it says")
        }
        self.string = nil
        // A slice keeps the whole buffer; a list could keep a large one for each of its short strings.
        if !frames.isEmpty { slice = ByteBuffer(buffer: slice) }
        switch string.type {
        case UInt8(ascii: "!"): return .error(String(buffer: slice))
        case UInt8(ascii: "="):
            // Three letters for the format, and a colon.
            guard slice.readInteger(as: UInt32.self).map({ $0 & 0xFF == 0x3A }) ?? false else {
                throw Malformed("a text has no format")
            }
            return .bytes(slice)
        default: return .bytes(slice)
        }
    }

    /// The next line, without its end.
    private mutating func nextLine() throws(Malformed) -> ByteBufferView? {
        let view = buffer.readableBytesView
        guard let end = view.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) else {
            searched = view.count
            guard searched <= limits.line else { throw Malformed("a line is longer than \(limits.line)") }
            return nil
        }
        searched = 0
        let line = view[..<end]
        buffer.moveReaderIndex(forwardBy: line.count + 1)
        guard line.count <= limits.line, line.last == UInt8(ascii: "\r") else {
            throw Malformed("a line is too long, or does not end with CR and LF")
        }
        return line.dropLast()
    }

    /// A length; nil for the length −1 of RESP2's null.
    private func length(_ digits: ByteBufferView, isNullAllowed: Bool) throws(Malformed) -> Int? {
        let number = try number(digits)
        if number == -1, isNullAllowed { return nil }
        guard number >= 0, number <= Int64(Int32.max) else { throw Malformed("a length is \(number)") }
        return Int(number)
    }

    private func number(_ digits: ByteBufferView) throws(Malformed) -> Int64 {
        guard digits.count <= 20, digits.first != UInt8(ascii: "+"),
            let number = Int64(String(decoding: digits, as: UTF8.self))
        else { throw Malformed("a number has other characters than digits, or too many") }
        return number
    }
}

/// A value of Redis' protocol, RESP2 or RESP3 (https://redis.io/docs/latest/develop/reference/protocol-spec/).
///
/// Types that mean the same to a client of commands are one case: a set or map is the list of its elements, a double or a
/// big number is its text.
enum RESPValue: Equatable, Sendable {
    case null
    case text(String)
    case number(Int64)
    case bytes(ByteBuffer)
    case list([RESPValue])
    /// A message that the server sends without a command (RESP3).
    case push([RESPValue])
    case error(String)

    /// Whether the value is an error.
    var isError: Bool { if case .error = self { true } else { false } }

    /// The text of a string of either kind; nil for other values.
    var string: String? {
        switch self {
        case .text(let text): text
        case .bytes(let buffer): String(buffer: buffer)
        case .null, .number, .list, .push, .error: nil
        }
    }

    /// The elements of a list; nil for other values.
    var elements: [RESPValue]? { if case .list(let elements) = self { elements } else { nil } }

    /// A number, or a string that is one; nil for other values.
    var integer: Int? {
        if case .number(let number) = self { return Int(exactly: number) }
        return string.flatMap(Int.init)
    }
}

/// A command as it is sent: a list of strings.
struct RedisCommand: Equatable {
    private enum Word: Equatable {
        case text(String)
        case bytes(Data)
    }

    private var words: [Word]
    /// The name of the value that the command reads or changes; in a cluster, it decides which server has the command.
    private(set) var key = ""
    /// Whether the command has no effect before the replicas of its server have its effect, too.
    private(set) var isLasting = false

    init(_ words: String...) { self.words = words.map(Word.text) }

    /// Makes a command whose first argument is a key.
    init(_ name: String, key: String) {
        self.init(name, key)
        self.key = key
    }

    /// Makes a command that runs a script with one key.
    init(script: String, key: String) {
        self.init("EVAL", script, "1", key)
        self.key = key
    }

    /// The command as one that replicas must confirm.
    ///
    /// Without that, a replica that takes the place of a failed primary may not know of the command.
    var lasting: RedisCommand {
        var command = self
        command.isLasting = true
        return command
    }

    /// Adds a word of bytes.
    func with(_ word: Data) -> RedisCommand {
        var command = self
        command.words.append(.bytes(word))
        return command
    }

    /// Adds words.
    func with(_ words: String...) -> RedisCommand {
        var command = self
        command.words += words.map(Word.text)
        return command
    }

    /// Writes the command, in the form that RESP2 and RESP3 share.
    func write(to buffer: inout ByteBuffer) {
        buffer.writeString("*\(words.count)\r\n")
        for word in words {
            switch word {
            case .text(let text):
                buffer.writeString("$\(text.utf8.count)\r\n")
                buffer.writeString(text)
            case .bytes(let bytes):
                buffer.writeString("$\(bytes.count)\r\n")
                buffer.writeBytes(bytes)
            }
            buffer.writeString("\r\n")
        }
    }
}

extension TierMessage {
    /// Reads a message as the script that publishes writes it: its number, a line feed, and the content.
    init?(_ payload: ByteBuffer) {
        let view = payload.readableBytesView
        guard let end = view.prefix(21).firstIndex(of: UInt8(ascii: "\n")),
            let number = UInt64(String(decoding: view[..<end], as: UTF8.self))
        else { return nil }
        self.init(number: number, content: Data(view[(end + 1)...]))
    }
}
#endif
