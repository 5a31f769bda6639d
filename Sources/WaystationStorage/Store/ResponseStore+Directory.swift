public import Foundation
import WaystationFileSystem

extension ResponseStore {
    /// Makes the directory of a store where it is missing, and checks that a store can work there.
    ///
    /// A store itself opens in the background and reports what is wrong as an event. Call this before you make one to
    /// learn at once of what cannot get better by itself. It waits for the disk.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unusableDirectory`` when the directory cannot be made, is not a
    ///   directory, is a symbolic link, belongs to another user or may be written to by others, and when that is so of
    ///   something that the store would use in it. What passes, such as a full disk, does not throw.
    public static func prepareDirectory(_ directory: URL) throws(StoreError) {
        let layout = StoreLayout(directory: directory)
        do {
            try layout.claim(LocalFileSystem().confined(to: layout.root))
        } catch let error as FileError where error.mayPass {
            // The store tries again, and says so.
        } catch {
            throw StoreError(
                .unusableDirectory,
                "\(layout.root) cannot hold a store: give it a directory of its own that it can write to",
                cause: error
            )
        }
    }
}

extension FileError {
    /// Whether the same call may succeed later with nothing changed by hand.
    fileprivate var mayPass: Bool {
        isFull || [EMFILE, ENFILE, ENOMEM, EIO, EINTR, EAGAIN, EBUSY, ESTALE, ETIMEDOUT].contains(code)
    }
}
