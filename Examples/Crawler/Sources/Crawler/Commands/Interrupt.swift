import Dispatch
import Foundation

/// Turns the first Ctrl-C into a cancellation, so that finished work is kept; the second ends the process.
enum Interrupt {
    static func cancelling<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        let work = Task { try await operation() }
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            work.cancel()
            signal(SIGINT, SIG_DFL)
        }
        // The default action would end the process before the source gets the signal.
        signal(SIGINT, SIG_IGN)
        source.resume()
        defer {
            source.cancel()
            signal(SIGINT, SIG_DFL)
        }
        return await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
    }
}
