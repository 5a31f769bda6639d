import FlyingFox
import FlyingSocks

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A socket pool that makes the server's sockets send at once (`TCP_NODELAY`).
///
/// FlyingFox writes head and body separately; without this option each answer's body waits 40 ms for the
/// acknowledgement of the head. The pool first waits for the listening socket, whose option the accepted sockets
/// inherit.
struct PromptPool<Base: AsyncSocketPool>: AsyncSocketPool {
    let base: Base

    func prepare() async throws { try await base.prepare() }
    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
