import Foundation

extension UpdatePlan.Reason {
    /// The reason in words, for a log or a terminal.
    package var explanation: String {
        switch self {
        case .upToDate: "the offered version is in use"
        case .newerInstalled: "a higher version is in use, and the server does not order a rollback"
        case .nothingOffered: "the source offers no version"
        case .appTooOld(let minimum): "the offered version needs version \(minimum) of the app or higher"
        case .network(let condition):
            "the server allows the download only on a network that is \(condition), "
                + "but this one is not, or its kind is unknown"
        case .noSpace(let needed, let available):
            "the update needs \(needed) bytes on the disk, but \(available) are free"
        case .failedBefore(let retryAt):
            "the offered version failed before; the next try is at \(retryAt.formatted(.iso8601))"
        case .noUsablePatch: "the server offers only patches, and none of them can be applied to the version in use"
        case .alreadyDisabled: "the server switched the module off"
        }
    }
}
