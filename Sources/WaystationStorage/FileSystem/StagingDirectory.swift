import Synchronization
import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory in which one owner writes files until they are complete.
///
/// Its file `lock` is locked (`flock`) while its owner lives, so that a process that finds it unlocked may remove the
/// directory. The lock ends with the process, however the process ends.
package final class StagingDirectory: Sendable {
    package let path: String
    private let lock: OpenFile
    private let fileSystem: any FileSystem
    /// The last owner may release the directory on a thread that must not wait for the disk; if this is true, no work
    /// is left then.
    private let isGone = Atomic(false)

    /// Makes a directory with a random name in `parent`.
    package init(in parent: String, fileSystem: any FileSystem) throws {
        self.fileSystem = fileSystem
        // Between making the directory and locking its file, another process may take it for a left-over and remove it.
        // Comparing the locked file with the one at the path shows that. The time between making and locking is short,
        // so a few attempts are enough.
        for _ in 0..<8 {
            let path = "\(parent)/\(RandomName.make())"
            try fileSystem.createDirectory(path)
            guard let lock = try? fileSystem.lock(path + "/lock"),
                try fileSystem.identity(of: path + "/lock") == fileSystem.identity(of: lock)
            else { continue }
            self.path = path
            self.lock = lock
            return
        }
        throw FileError("lock", parent, code: EAGAIN)
    }

    deinit { discard() }

    /// Removes the directory with its contents; this also happens when its last owner releases it.
    package func discard() {
        guard !isGone.load(ordering: .acquiring), (try? Self.remove(path, fileSystem)) != nil else { return }
        isGone.store(true, ordering: .releasing)
    }

    /// Removes directories in `parent` whose owners have ended.
    ///
    /// Links, and objects whose names are not those of staging directories, stay.
    ///
    /// - Parameters:
    ///   - parent: The directory.
    ///   - fileSystem: The file system.
    ///   - salvage: Called with each directory before it is removed, while no other process can remove it.
    /// - Throws: ``FileError``.
    /// - Returns: How many directories were removed.
    package static func removeLeftOvers(
        in parent: String,
        _ fileSystem: any FileSystem,
        salvaging salvage: (String) -> Void = { _ in }
    ) throws -> Int {
        var count = 0
        for name in try fileSystem.contents(of: parent) where RandomName.isPossible(name) {
            let other = "\(parent)/\(name)"
            guard try fileSystem.status(of: other)?.kind == .directory else { continue }
            if try fileSystem.contents(of: other).isEmpty {
                // The owner has ended, or is just about to lock the directory; in that case the removal makes it try
                // again.
                try? fileSystem.removeDirectory(other)
                continue
            }
            // Locking makes the lock file if it is missing, which does no harm: it is removed again below. The owner,
            // or another process that cleans up, may have removed the directory meanwhile.
            let lock: OpenFile?
            do {
                lock = try fileSystem.lock(other + "/lock")
            } catch let error as FileError where error.code == ENOENT {
                continue
            }
            guard let lock else { continue }
            try withExtendedLifetime(lock) {
                salvage(other)
                try remove(other, fileSystem)
            }
            count += 1
        }
        return count
    }

    /// Removes the lock last, so that the next clean-up continues a removal that was interrupted.
    private static func remove(_ path: String, _ fileSystem: any FileSystem) throws {
        for name in try fileSystem.contents(of: path) where name != "lock" {
            try fileSystem.removeTree("\(path)/\(name)")
        }
        try fileSystem.removeFile(path + "/lock")
        try fileSystem.removeDirectory(path)
    }
}

/// Random names for files that are never looked up by name.
package enum RandomName {
    /// Makes a name of 32 hexadecimal digits.
    package static func make() -> String {
        (0..<16).map { _ in UInt8.random(in: 0 ... .max) }.hexadecimal
    }

    /// Whether a name has the form of those that ``make()`` returns.
    package static func isPossible(_ name: String) -> Bool {
        name.utf8.count == 32 && name.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
    }
}
