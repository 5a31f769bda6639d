#if Redis
import Foundation
import NIOCore

/// A command as it is sent: a list of strings.
struct RedisCommand: Equatable {
    private(set) var words: [ByteBuffer]

    init(_ words: String...) { self.words = words.map { ByteBuffer(string: $0) } }

    /// Adds a word of bytes.
    func with(_ word: Data) -> RedisCommand {
        var command = self
        command.words.append(ByteBuffer(bytes: word))
        return command
    }

    /// Adds words.
    func with(_ words: String...) -> RedisCommand {
        var command = self
        command.words += words.map { ByteBuffer(string: $0) }
        return command
    }

    /// Writes the command, in the form that RESP2 and RESP3 share.
    func write(to buffer: inout ByteBuffer) {
        buffer.writeString("*\(words.count)\r\n")
        for word in words {
            buffer.writeString("$\(word.readableBytes)\r\n")
            buffer.writeImmutableBuffer(word)
            buffer.writeString("\r\n")
        }
    }
}
#endif
