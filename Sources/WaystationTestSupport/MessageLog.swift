public import Logging
import Synchronization

/// Collects the logged messages.
public struct MessageLog: LogHandler {
    /// The collected messages.
    public final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        /// All messages so far, such as `notice: signed the catalogue again`.
        public var all: [String] { list.withLock { $0 } }
        /// Makes an empty collection.
        public init() {}
        fileprivate func append(_ message: String) { list.withLock { $0.append(message) } }
    }

    private let messages: Messages
    /// The metadata of every message, which are not collected.
    public var metadata: Logger.Metadata = [:]
    /// The lowest level that is collected.
    public var logLevel: Logger.Level

    /// Makes a handler that adds to a collection; from warnings on by default.
    public init(messages: Messages, logLevel: Logger.Level = .warning) {
        self.messages = messages
        self.logLevel = logLevel
    }

    /// The metadata of every message.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Collects a message.
    public func log(event: LogEvent) { messages.append("\(event.level): \(event.message)") }
}
