import Glibc

/// A file descriptor that closes with its last owner.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    private let isLocked: Bool

    /// Takes ownership of an open descriptor, and of the lock that it may hold.
    package init(descriptor: Int32, path: String, isLocked: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isLocked = isLocked
    }

    deinit {
        // Closing alone would not do: a child that is just being started has the descriptor too until it runs its
        // program, and the lock would outlive its owner by that long.
        if isLocked { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }
}
