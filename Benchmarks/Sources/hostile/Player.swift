import NIOCore
import WaystationTestSupport

/// Plays the steps of one response on a channel, as fast as the client reads.
final class Player {
    /// The smallest write of a flood; single frames would make the server slower than its client.
    private static let writeSize = 16 << 10

    private let channel: any Channel
    private var steps: [HostileResponse.Step]
    private let whenDone: () -> Void
    private var isStopped = false

    init(_ steps: [HostileResponse.Step], on channel: any Channel, whenDone: @escaping () -> Void) {
        self.channel = channel
        self.steps = steps.reversed()
        self.whenDone = whenDone
    }

    /// Sends the next bytes; the one after them follows when they are written.
    func play() {
        guard !isStopped else { return }
        switch steps.popLast() {
        case nil: whenDone()
        case .send(let bytes): write(bytes)
        case .flood(_, times: ..<1): play()
        case .flood(let bytes, let times):
            let joined = bytes.count < Self.writeSize ? min(times, Self.writeSize / max(1, bytes.count)) : 1
            let part = joined > 1 ? Array(repeatElement(bytes, count: joined).joined()) : bytes
            steps.append(.flood(part, times: times / joined - 1))
            write(part)
        }
    }

    private func write(_ bytes: [UInt8]) {
        let loop = channel.eventLoop
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).assumeIsolated().whenComplete { result in
            guard case .success = result else { return }
            // In a later turn, because a write that ends at once would make the stack grow with each step.
            loop.assumeIsolated().execute { self.play() }
        }
    }

    /// Nothing more is sent.
    func stop() { isStopped = true }
}
