import Logging

/// Writes the log of a command to standard error, a line each.
struct ConsoleLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // The events of loads are in the metadata; their message is always the same.
        let text = event.metadata?["event"].map { "\($0)" } ?? "\(event.message)"
        Console.writeError((event.level >= .warning ? "warning: \(text)" : text).printable)
    }

    /// A logger for a command.
    ///
    /// - Parameter isVerbose: Whether each load is a line, and not only problems.
    /// - Returns: The logger.
    static func logger(isVerbose: Bool) -> Logger {
        Logger(label: "waystation") { _ in ConsoleLog(logLevel: isVerbose ? .trace : .warning) }
    }
}
