import ArgumentParser
import WaystationStorage

/// An error of a command that reads a store.
struct CacheFailure: Error {
    let code: String
    let message: String
}

extension StoreError.Code {
    /// The exit code of the tool.
    var exitCode: ExitCode {
        switch self {
        case .unavailable, .full: .disk
        default: .refused
        }
    }
}
