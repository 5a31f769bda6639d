import Foundation
import Synchronization

/// A body stream under a test's control: it returns its parts one by one, waits where the script says, and may fail.
final class ScriptedStream: InputStream {
    enum Step: Sendable {
        case bytes(Data)
        /// Blocks until ``ScriptedStream/release()`` is called.
        case wait
        case fail
    }

    struct Failure: Error {}

    private struct State {
        var steps: [Step]
        var status = Stream.Status.notOpen
        var read = 0
    }

    private let state: Mutex<State>
    private let gate = DispatchSemaphore(value: 0)
    private let reached: AsyncStream<Void>
    private let reaching: AsyncStream<Void>.Continuation

    init(_ steps: [Step]) {
        state = Mutex(State(steps: steps))
        (reached, reaching) = AsyncStream.makeStream()
        super.init(data: Data())
    }

    /// How many bytes were read.
    var bytesRead: Int { state.withLock { $0.read } }

    /// Waits until a reader reaches the step where the stream blocks.
    func untilBlocked() async { for await _ in reached { return } }

    /// Unblocks the reader.
    func release() { gate.signal() }

    override func open() { state.withLock { $0.status = .open } }
    override func close() { state.withLock { $0.status = .closed } }
    override var streamStatus: Stream.Status { state.withLock { $0.status } }
    override var streamError: (any Error)? { state.withLock { $0.status == .error } ? Failure() : nil }
    override var hasBytesAvailable: Bool { state.withLock { !$0.steps.isEmpty } }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        while true {
            guard let step = state.withLock({ $0.steps.first }) else { return 0 }
            switch step {
            case .bytes(let data):
                let part = data.prefix(length)
                part.copyBytes(to: buffer, count: part.count)
                state.withLock { state in
                    state.read += part.count
                    let rest = Data(data.dropFirst(part.count))
                    if rest.isEmpty { state.steps.removeFirst() } else { state.steps[0] = .bytes(rest) }
                }
                return part.count
            case .wait:
                reaching.yield()
                gate.wait()
                state.withLock { _ = $0.steps.removeFirst() }
            case .fail:
                state.withLock { $0.status = .error }
                return -1
            }
        }
    }
}
