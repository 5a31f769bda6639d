import Glibc

/// A file descriptor that closes with its last owner.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    /// Takes ownership of an open descriptor.
    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }
}
