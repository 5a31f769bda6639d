#if Redis
import Foundation
import NIOCore

/// A command as it is sent: a list of strings.
struct RedisCommand: Equatable {
    private(set) var words: [ByteBuffer]
    /// The name of the value that the command reads or changes; in a cluster, it decides which server has the command.
    private(set) var key = ""
    /// Whether the command has no effect before the replicas of its server have its effect, too.
    private(set) var isLasting = false

    init(_ words: String...) { self.words = words.map { ByteBuffer(string: $0) } }

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
