public import Foundation
import HTTPTypes
import Synchronization
import WaystationFileSystem

/// A directory of web files that answers HTTP requests.
///
/// ```swift
/// let site = try OfflineDirectory(URL(filePath: "site"))
/// switch site.answer(FileRequest(path: "guide/")) {
/// case .answer(let answer): print(answer.headerFields)  // of guide/index.html: ETag, Last-Modified, Content-Type
/// case .notFound: print("there is no such file")
/// case .refused(let refusal): print(refusal)
/// case .failed(let error): print(error)
/// }
/// ```
///
/// Answers GET and HEAD with single ranges (RFC 9110 section 14) and preconditions (section 13). A `Range` field with
/// several ranges is ignored, as section 14.2 allows: the whole file is the answer.
///
/// Files outside the directory are never served. Every name of a path is opened by itself, relative to the directory
/// before it, and a symbolic link is refused wherever it is and wherever it points to. Only regular files are served; a
/// FIFO or a device is not even opened. Files whose names begin with a dot are served like any other, so keep no
/// secrets in the directory. The file system compares names as exact bytes; a file system that ignores case does so
/// here too.
///
/// The object holds the directory open: renaming or replacing the directory later does not change what the object serves. Files in it may change at any time;
/// changes are detected by size, inode and times. Replace files by renaming, so that no reader sees half of a file.
///
/// All methods may be called from any thread at once.
public final class OfflineDirectory: Sendable {
    /// The directory as it was passed in.
    public let root: URL
    /// How the directory answers.
    public let options: Options

    let rootDirectory: OpenFile
    let now: @Sendable () -> FileTime
    let pins: PinnedFiles?
    let residents: Mutex<ResidentTable>
    let fingerprints = Mutex(FingerprintMemo())

    /// Opens a directory.
    ///
    /// - Parameters:
    ///   - root: A `file:` URL. Its path may contain symbolic links; inside the directory, links are never followed.
    ///   - options: How the directory answers.
    /// - Throws: ``OfflineDirectoryError`` when `root` does not exist, is not a directory or cannot be opened, or when
    ///   an index document is not the bare name of a file.
    public convenience init(_ root: URL, options: Options = .init()) throws(OfflineDirectoryError) {
        try self.init(root, options: options, now: FileTime.now)
    }

    /// Opens a directory with a custom clock, which must not be ahead of the clock of the file system.
    ///
    /// - Parameters:
    ///   - root: The directory.
    ///   - options: How the directory answers.
    ///   - pins: The known digests of its files, if any. Files that differ from them are not served, and files in
    ///     memory are served without checking the disk.
    ///   - now: The clock.
    /// - Throws: The same errors as the other initialiser.
    package init(
        _ root: URL,
        options: Options = .init(),
        pins: PinnedFiles? = nil,
        now: @escaping @Sendable () -> FileTime = FileTime.now
    ) throws(OfflineDirectoryError) {
        for document in options.indexDocuments {
            guard case .success([document]) = OfflinePath.components(of: OfflinePath.encoded(document)) else {
                throw OfflineDirectoryError(
                    code: .invalidOptions,
                    message: "'\(document)' cannot be an index document; give the bare name of a file, as 'index.html'",
                    errorNumber: nil
                )
            }
        }
        self.root = root
        self.options = options
        self.now = now
        self.pins = pins
        rootDirectory = try OpenFile(openingRoot: root)
        residents = Mutex(ResidentTable(limit: options.residentLimit))
    }

    /// Answers from memory; nil when that is not possible.
    ///
    /// For use on the loading queue: costs a look-up under a lock and one `fstatat`, and never reads a file. A plain
    /// GET or HEAD (without `Range` and `If-…` fields) that ``answer(_:)`` has answered before gets the same instance
    /// again as long as the file's inode, size and times are unchanged.
    ///
    /// - Returns: `nil` when the request is not plain, or the file is not in memory or has changed: call ``answer(_:)``.
    public func resident(_ request: FileRequest) -> FileAnswer? {
        guard request.isPlain else { return nil }
        return resident(path: request.path, isHead: request.method == .head)
    }

    /// Answers a plain GET for a percent-encoded path from memory; nil when that is not possible, see ``resident(_:)``.
    public func resident(path: String) -> FileAnswer? {
        resident(path: path, isHead: false)
    }

    /// Answers a request, and reads from the disk if necessary; blocks for as long as that takes.
    ///
    /// The first answer for a file reads all of it, since the `ETag` is made from the content; the result is remembered
    /// until the file changes. A directory that is requested without its trailing slash is answered with 301 and a
    /// relative `Location` (RFC 9110 section 10.2.2), which is correct wherever the directory is mounted; the request's
    /// query is kept. A directory without an index document is answered with ``FileOutcome/notFound``.
    public func answer(_ request: FileRequest) -> FileOutcome {
        guard request.method == .get || request.method == .head else {
            return .answer(.empty(.methodNotAllowed, [.allow: "GET, HEAD"]))
        }
        if let answer = resident(request) { return .answer(answer) }
        switch OfflinePath.components(of: request.path) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let names): return answer(request, names: names)
        }
    }
}
