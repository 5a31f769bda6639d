import Foundation
import WaystationFileSystem

/// A regular file that is open for reading, with its stamp when it was opened.
struct StampedFile: Sendable {
    let file: OpenFile
    let stamp: FileStamp
    /// The path relative to the root, for messages.
    let path: String

    /// Reads exactly `count` bytes; throws if the file ends before that.
    func read(at offset: Int, count: Int) throws(OfflineDirectoryError) -> Data {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let result = data.withUnsafeMutableBytes { bytes in
                pread(file.descriptor, bytes.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
            }
            switch result {
            case 0: throw .changed(path)
            case ..<0 where errno == EINTR: continue
            case ..<0: throw .unreadable(path, errorNumber: errno)
            default: done += result
            }
        }
        return data
    }

    /// Whether size and modification time are the same as when the file was opened.
    ///
    /// The change time is not compared: it also changes when a new version is renamed over this file, which does not
    /// affect the bytes behind this descriptor.
    func hasSameContentStamp() throws(OfflineDirectoryError) -> Bool {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw .unreadable(path, errorNumber: errno) }
        let now = FileStamp(status)
        return now.size == stamp.size && now.modified == stamp.modified
    }
}
