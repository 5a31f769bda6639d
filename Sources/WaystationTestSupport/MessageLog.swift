package import Logging
import Synchronization

/// Collects the logged messages.
package struct MessageLog: LogHandler {
    package final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        package var all: [String] { list.withLock { $0 } }
        package init() {}
        fileprivate func append(_ message: String) { list.withLock { $0.append(message) } }
    }

    private let messages: Messages
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level

    package init(messages: Messages, logLevel: Logger.Level = .warning) {
        self.messages = messages
        self.logLevel = logLevel
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { messages.append("\(event.level): \(event.message)") }
}
