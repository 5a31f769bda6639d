/// The way in which a ``Recording`` answers requests.
public enum RecordingMode: String, Sendable, CaseIterable {
    /// Records if the file is missing, and otherwise replays it.
    case once
    /// Answers from the file and never from the network; a request that the file does not have fails.
    case replay
    /// Sends every request to the network, and replaces the file unless the run fails.
    case record
    /// Sends every request to the network, and leaves the file alone.
    case passthrough
}

/// The value of `WAYSTATION_RECORD`, which overrides the modes in code.
enum RecordingOverride: Equatable {
    case mode(RecordingMode)
    /// Replays, but records the entries of these requests again.
    case again(method: String, url: String)

    static let variable = "WAYSTATION_RECORD"

    /// Reads the value: the name of a mode, or a method and a URL pattern.
    init?(_ value: String) {
        if let mode = RecordingMode(rawValue: value.lowercased()) {
            self = .mode(mode)
            return
        }
        let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, parts[1].contains("://") else { return nil }
        self = .again(method: parts[0].uppercased(), url: parts[1])
    }
}
