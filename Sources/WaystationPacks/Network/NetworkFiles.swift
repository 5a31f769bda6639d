import Foundation

/// The files in which the kernel describes the network, or a tree of the same form.
struct NetworkFiles: Sendable {
    private static let maximumSize = 1 << 20

    /// Returns the text of a file; nil when it does not exist.
    let text: @Sendable (_ path: String) -> String?
    /// Returns whether a file or folder exists.
    let exists: @Sendable (_ path: String) -> Bool

    /// Files from another source, for tests.
    init(text: @escaping @Sendable (String) -> String?, exists: @escaping @Sendable (String) -> Bool) {
        self.text = text
        self.exists = exists
    }

    /// The files of this machine, or of a tree below `root`.
    init(below root: String = "") {
        self.init(
            text: { Self.read(root + $0) },
            exists: { access(root + $0, F_OK) == 0 }
        )
    }

    /// Reads until the end of the file, since the kernel reports a size of 0 for these files.
    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < maximumSize {
            let count = Foundation.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
