/// The device and the inode of a file.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// The file, directory or other object at a path.
package struct FileStatus: Hashable, Sendable {
    /// The kinds of objects at a path.
    package enum Kind: Hashable, Sendable { case file, directory, symbolicLink, other }

    package let kind: Kind
    package let size: Int
    package let identity: FileIdentity

    package init(kind: Kind, size: Int, identity: FileIdentity) {
        self.kind = kind
        self.size = size
        self.identity = identity
    }
}
