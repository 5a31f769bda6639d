#if Gateway
import Logging
import Synchronization

/// Collects the logged messages.
struct MessageLog: LogHandler {
    final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func append(_ message: String) { list.withLock { $0.append(message) } }
    }

    let messages: Messages
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.append("\(event.level): \(event.message)") }
}
#endif
