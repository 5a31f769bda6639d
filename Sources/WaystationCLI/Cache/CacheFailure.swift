import ArgumentParser
import WaystationStorage

/// Why a command that reads a store has nothing to show.
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
