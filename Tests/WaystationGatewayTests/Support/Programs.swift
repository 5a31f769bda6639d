#if Gateway
import Foundation
import WaystationProcesses

/// Other programs, run to their end on threads of their own.
enum Programs {
    /// A run that fails the test, not a measurement: no test needs as long as this.
    private static let limit = 300.0

    static func run(
        _ executable: String,
        _ arguments: [String],
        in directory: URL? = nil,
        environment: [String: String]? = nil
    ) async throws -> SpawnedProcessOutcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try SpawnedProcess.run(
                            executable,
                            arguments,
                            in: directory,
                            environment: environment,
                            limit: limit
                        )
                    }
                )
            }
        }
    }

    /// Runs curl without the settings of this machine's user.
    static func curl(_ arguments: [String]) async throws -> SpawnedProcessOutcome {
        try await run("/usr/bin/curl", ["-q", "-sS"] + arguments, environment: [:])
    }
}

extension SpawnedProcessOutcome {
    var text: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: errors, as: UTF8.self) }
}
#endif
