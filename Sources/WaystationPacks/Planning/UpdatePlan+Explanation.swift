import Foundation

extension UpdatePlan.Reason {
    /// The reason in words, for a log or a terminal.
    package var explanation: String {
        switch self {
        case .upToDate: "the offered version is in use"
        case .newerInstalled: "a higher version is in use, and the server orders no rollback"
        case .nothingOffered: "the source offers no version"
        case .appTooOld(let minimum): "the offered version needs version \(minimum) of the app or higher"
        case .network(let condition):
            "the server allows the download on a network that is \(condition), and this one is not, or cannot be examined"
        case .noSpace(let needed, let available):
            "the update needs \(needed) bytes on the disk, and \(available) are free"
        case .failedBefore(let retryAt):
            "the offered version failed before; the next try is at \(retryAt.formatted(.iso8601))"
        case .noUsablePatch: "the server offers patches alone, and none of them can be applied to the version in use"
        case .alreadyDisabled: "the server switched the module off"
        }
    }
}
