import Dispatch
import Synchronization
import WaystationFoundation
import WaystationStorage

/// The way in which a session gets the file of a download that no loader of Foundation's own has made.
///
/// A session takes it from a property of the task's protocol that only Foundation can set by its name. So it is set by
/// its place in the protocol, which is known only if a property of exactly this name and type exists; on a toolchain
/// without it, downloads are left to Foundation's own loader.
struct DownloadedFile: Sendable {
    /// The file by the property of this toolchain.
    static let current = DownloadedFile()

    let cure: FoundationCure
    /// The place of the property in a protocol, and its type; nil if the cure stays out.
    private let property: (offset: Int, type: any FileProperties.Type)?

    /// Finds the property of this name, which must be a dictionary that can have the key of a file.
    init(property name: String = "properties", isNeeded: Bool = true) {
        let type = FoundationInternals.type(of: name, in: URLProtocol.self) as? any FileProperties.Type
        let offset = type.flatMap { $0.hasFile ? $0.offset(of: name, in: URLProtocol.self) : nil }
        cure = FoundationCure(
            "L6",
            "rules answer downloads",
            without: "downloads are left to Foundation's own loader, and always use the network",
            isNeeded: isNeeded,
            missing: offset == nil ? "URLProtocol.\(name): [_PropertyKey: Any], with the key temporaryFileURL" : nil
        )
        property = if cure.isApplied, let offset, let type { (offset, type) } else { nil }
    }

    /// Whether the session makes the file of a protocol's bytes, as on other systems.
    var isMadeBySession: Bool { cure.state == .notNeeded }

    /// Whether a download can be loaded without Foundation's own loader.
    var canBeHandedOver: Bool { isMadeBySession || property != nil }

    /// Gives a file to the session, which passes it on with the end of the load.
    ///
    /// Call it on the work queue, before the end is reported. As with Foundation's own loader, the app removes the file.
    ///
    /// - Returns: Whether the session has the file; false if this version of Foundation has no place for it.
    func handOver(_ file: URL, by urlProtocol: URLProtocol) -> Bool {
        guard let (offset, type) = property else { return false }
        type.set(file, at: Unmanaged.passUnretained(urlProtocol).toOpaque() + offset)
        return true
    }
}

/// Writes the bytes of a download into a temporary file as they arrive.
///
/// It writes on a queue of its own, because the work queue of all sessions must not wait for a disk. Unless the session
/// gets the file, it is removed with this object.
final class DownloadWriter: Sendable {
    private struct State {
        var file: OpenFile?
        var length: Int64 = 0
        var isKept = false
    }

    private let path: String
    private let files: any FileSystem
    private let queue = DispatchQueue(label: "waystation.download")
    private let state = Mutex(State())

    /// Chooses a name in the directory for temporary files; the file is made when it is needed.
    init(_ files: any FileSystem) {
        self.files = files
        let name = "waystation-\(RandomName.make()).tmp"
        path = FileManager.default.temporaryDirectory.appending(path: name).path(percentEncoded: false)
    }

    deinit {
        guard state.withLock({ $0.file != nil && !$0.isKept }) else { return }
        // The removal of a long file takes time.
        queue.async { [files, path] in try? files.removeFile(path) }
    }

    /// The number of bytes in the file.
    var length: Int64 { state.withLock(\.length) }

    /// Appends a part.
    ///
    /// - Parameters:
    ///   - part: The bytes; the part before must have been written.
    ///   - completion: Called once, on the queue, with the length of the file or with the error of the file system.
    func append(_ part: Data, _ completion: @escaping @Sendable (Result<Int64, any Error>) -> Void) {
        queue.async {
            completion(
                Result {
                    try self.files.write(part, to: self.opened())
                    return self.state.withLock { state in
                        state.length += Int64(part.count)
                        return state.length
                    }
                }
            )
        }
    }

    /// The complete file, which is not removed any more; an empty one if nothing was appended.
    ///
    /// - Throws: The error of the file system if an empty file cannot be made.
    func keep() throws -> URL {
        _ = try opened()
        state.withLock { $0.isKept = true }
        return URL(filePath: path)
    }

    private func opened() throws -> OpenFile {
        if let file = state.withLock(\.file) { return file }
        let made = try files.createFile(path)
        state.withLock { $0.file = made }
        return made
    }
}

/// The type of the property: a dictionary by an enumeration of Foundation's own.
private protocol FileProperties: SendableMetatype {
    static var hasFile: Bool { get }
    static func offset(of name: String, in owner: Any.Type) -> Int?
    static func set(_ file: URL, at place: UnsafeMutableRawPointer)
}

extension Dictionary: FileProperties where Key: RawRepresentable, Key.RawValue == String, Value == Any {
    fileprivate static var hasFile: Bool { fileKey != nil }

    private static var fileKey: Key? { Key(rawValue: "temporaryFileURL") }

    fileprivate static func offset(of name: String, in owner: Any.Type) -> Int? {
        FoundationInternals.offset(of: name, as: Self.self, in: owner)
    }

    fileprivate static func set(_ file: URL, at place: UnsafeMutableRawPointer) {
        guard let fileKey else { return }
        place.assumingMemoryBound(to: Self.self).pointee[fileKey] = file
    }
}
