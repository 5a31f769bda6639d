#if NIO
import NIOCore

/// A connection that is being made.
///
/// It is confined to the event loop.
final class ConnectAttempt {
    /// The time at which it must be complete.
    let deadline: NIODeadline
    private var channels: [any Channel] = []
    private var complete: ((Result<any Channel, TransportFailure>) -> Void)?
    /// Whether it has been completed or given up.
    private(set) var isOver = false

    init(deadline: NIODeadline) { self.deadline = deadline }

    /// Sets the closure that gets the channel, when it is ready for HTTP, or the failure.
    func whenOver(_ complete: @escaping (Result<any Channel, TransportFailure>) -> Void) { self.complete = complete }

    /// Records a channel that tries one of the host's addresses, so that giving up can close it.
    func add(_ channel: any Channel) {
        guard !isOver else { return channel.close(promise: nil) }
        channels.append(channel)
    }

    /// A step failed; the first failure counts.
    func fail(_ failure: TransportFailure) {
        guard let complete = finish() else { return }
        closeAll()
        complete(.failure(failure))
    }

    /// The channel is ready for HTTP.
    func succeed(_ channel: any Channel) {
        guard let complete = finish() else { return channel.close(promise: nil) }
        channels = []
        complete(.success(channel))
    }

    /// Gives the attempt up without reporting it.
    func abandon() {
        _ = finish()
        closeAll()
    }

    /// Fails because the deadline has passed.
    func timeOut() {
        fail(
            TransportFailure(.timedOut, "Making a connection took too long. Raise connectTimeout, or try again later.")
        )
    }

    private func finish() -> ((Result<any Channel, TransportFailure>) -> Void)? {
        isOver = true
        defer { complete = nil }
        return complete
    }

    private func closeAll() {
        for channel in channels { channel.close(promise: nil) }
        channels = []
    }
}
#endif
