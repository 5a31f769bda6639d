#if Redis
import Foundation
import NIOCore

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
#endif
