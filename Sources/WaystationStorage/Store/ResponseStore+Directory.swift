public import Foundation
import WaystationFileSystem

extension ResponseStore {
    /// Makes the directory of a store if it is missing, and checks that a store can work there.
    ///
    /// A store itself opens in the background and reports problems as events. Call this before you make a store to get
    /// the problems that do not go away by themselves as an error. The call waits for the disk.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unusableDirectory`` when the URL is not a file URL, when the
    ///   directory cannot be made, is not a directory, is a symbolic link, belongs to another user or can be written to
    ///   by others, or when one of these is true of something in it that the store would use. Temporary problems, such
    ///   as a full disk, do not throw.
    public static func prepareDirectory(_ directory: URL) throws(StoreError) {
        let layout = StoreLayout(directory: directory)
        do {
            try layout.claim(LocalFileSystem().confined(to: layout.root))
        } catch let error as FileError where error.mayPass {
            // The problem is temporary: the store tries again when it opens, and reports it as an event.
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
    /// Whether the same call may succeed later although nothing was changed by hand.
    fileprivate var mayPass: Bool {
        isFull || [EMFILE, ENFILE, ENOMEM, EIO, EINTR, EAGAIN, EBUSY, ESTALE, ETIMEDOUT].contains(code)
    }
}
