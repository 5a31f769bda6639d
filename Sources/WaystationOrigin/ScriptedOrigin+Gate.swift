import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension ScriptedOrigin {
    /// A point at which an answer waits until the test opens the gate.
    ///
    /// ```swift
    /// let gate = try ScriptedOrigin.Gate()
    /// let origin = try ScriptedOrigin { _ in .ok("late").held(at: gate) }
    /// async let answer = session.data(from: origin.url())
    /// await origin.waitForRequests(1)  // the request is there, its answer held back
    /// gate.open()
    /// let (data, _) = try await answer
    /// ```
    ///
    /// One gate may hold several answers, and stays open once opened. An answer that waits also ends when its client
    /// goes away or the server stops, so a gate that is never opened does not hold an answer for ever.
    public final class Gate: Sendable {
        // The gate is a pipe that becomes readable when the gate opens. The pipe is never read, so from the opening on
        // `poll` returns at once for every waiting thread.
        private let readable: CInt
        private let writable: CInt

        /// Makes a closed gate.
        ///
        /// - Throws: ``SocketFailure`` when the process has no file descriptor left.
        public init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SocketFailure("open a gate", code: errno) }
            (readable, writable) = (ends[0], ends[1])
            // A child process must not inherit the gate's pipe, and opening the gate too often must not block.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(writable, F_SETFL, O_NONBLOCK)
        }

        deinit {
            close(readable)
            close(writable)
        }

        /// Lets all answers that wait at this gate continue, now and in the future.
        public func open() { _ = write(writable, "o", 1) }

        // The number is that of POLLRDHUP, which Glibc defines for GNU sources only.
        private static let peerHungUp: Int16 = 0x2000

        /// Waits for the gate to open, or for the peer of `socket` to go away.
        ///
        /// - Returns: Whether the gate opened; false when the peer went away.
        func wait(alongside socket: CInt) -> Bool {
            var watched = [
                pollfd(fd: readable, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: Self.peerHungUp, revents: 0),
            ]
            while poll(&watched, nfds_t(watched.count), -1) < 0 {
                guard errno == EINTR else { return false }
            }
            return watched[0].revents & Int16(POLLIN) != 0
        }
    }
}
