import Foundation
import WaystationFileSystem
import WaystationRecording

/// The place of the bodies of recorded responses.
public enum RecordedBodies: Sendable, Hashable {
    /// In the HAR file; bytes that are not text in Base64.
    case inline
    /// In files beside the HAR file: bodies that are not text, and those of more than this number of bytes.
    ///
    /// The files of `orders.har` are in the folder `orders.bodies`. Each has the name of its request, such as
    /// `GET-api.example-photos-7.png`, so that a recording that is made again replaces the same files. Files that no entry
    /// has any more are removed.
    case beside(above: Int)

    /// Files for bodies that are not text, and for those of more than 16 KiB.
    public static let automatic = RecordedBodies.beside(above: 16 << 10)

    /// Whether a body gets a file.
    func leavesFile(_ content: HARArchive.Content) -> Bool {
        guard case .beside(let limit) = self, let text = content.text, content.file == nil, !text.isEmpty else {
            return false
        }
        return content.encoding != nil || text.utf8.count > limit
    }

    /// The folder of the bodies of a recording.
    static func folder(of recording: URL) -> URL {
        recording.deletingPathExtension().appendingPathExtension("bodies")
    }

    /// A name for the body of an entry that differs from those of the other entries, also where case is ignored.
    static func name(of entry: HARArchive.Entry, besides used: inout Set<String>) -> String {
        let url = URLComponents(string: entry.request.url)
        var segments = (url?.path ?? "").split(separator: "/").map(String.init)
        var known: String?
        if let last = segments.last, let dot = last.lastIndex(of: "."), dot > last.startIndex {
            let suffix = last[last.index(after: dot)...]
            if (1...8).contains(suffix.count), suffix.allSatisfy(\.isPlain) {
                known = String(suffix)
                segments[segments.count - 1] = String(last[..<dot])
            }
        }
        let words = ([entry.request.method, url?.host ?? ""] + segments).filter { !$0.isEmpty }
        let stem = words.map { String($0.map { $0.isPlain ? $0 : "-" }) }.joined(separator: "-").prefix(100)
        let type = entry.response.content.mimeType.prefix { $0 != ";" }.lowercased()
        let ending = known ?? suffixes[type] ?? (entry.response.content.encoding == nil ? "txt" : "bin")
        var name = "\(stem).\(ending)"
        var number = 2
        while !used.insert(name.lowercased()).inserted {
            name = "\(stem)-\(number).\(ending)"
            number += 1
        }
        return name
    }

    /// Removes the files that no entry has, and the folder if it becomes empty.
    static func removeFiles(in folder: URL, without entries: [HARArchive.Entry]) {
        let kept = Set(entries.compactMap(\.response.content.file))
        let path = folder.path(percentEncoded: false)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where !kept.contains("\(folder.lastPathComponent)/\(name)") {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }
        removeIfEmpty(folder)
    }

    /// Removes the folder of the bodies if it has no files.
    static func removeIfEmpty(_ folder: URL) {
        // The system refuses to remove a folder that has files.
        _ = rmdir(folder.path(percentEncoded: false))
    }

    private static let suffixes = [
        "application/json": "json", "application/javascript": "js", "application/pdf": "pdf",
        "application/xml": "xml", "application/zip": "zip", "audio/mpeg": "mp3", "font/woff2": "woff2",
        "image/gif": "gif", "image/jpeg": "jpg", "image/png": "png", "image/svg+xml": "svg", "image/webp": "webp",
        "text/css": "css", "text/csv": "csv", "text/html": "html", "text/javascript": "js", "text/xml": "xml",
        "video/mp4": "mp4", "video/webm": "webm",
    ]
}

/// A body that gets a file beside its recording.
struct BodyFile {
    /// The index of the body's entry.
    let entry: Int
    let name: String
    let body: Data
    private let temporaryName = RandomName.make()

    init(ofEntry entry: Int, name: String, body: Data) {
        self.entry = entry
        self.name = name
        self.body = body
    }

    /// Writes the file under a temporary name; only its owner can read it, like the recording.
    func write(in folder: URL) throws(RecordingError) {
        let files = LocalFileSystem()
        do {
            let file = try files.createFile(path(temporaryName, in: folder))
            try files.write(body, to: file)
            try files.synchronize(file)
        } catch { throw failure(in: folder, error) }
    }

    /// Gives the file its name, replacing an existing file.
    func putInPlace(in folder: URL) throws(RecordingError) {
        do { try LocalFileSystem().rename(path(temporaryName, in: folder), to: path(name, in: folder)) } catch {
            throw failure(in: folder, error)
        }
    }

    /// Removes the file if it has its temporary name.
    func discard(in folder: URL) { try? LocalFileSystem().removeFile(path(temporaryName, in: folder)) }

    private func path(_ name: String, in folder: URL) -> String {
        folder.appending(path: name).path(percentEncoded: false)
    }

    private func failure(in folder: URL, _ error: any Error) -> RecordingError {
        RecordingError(
            .unwritable,
            "\(path(name, in: folder)) cannot be made: check that its folder exists and is writable",
            cause: error
        )
    }
}

extension Character {
    /// Whether the character is a letter or a digit of ASCII, a dot, a dash or an underscore.
    fileprivate var isPlain: Bool { isASCII && (isLetter || isNumber || self == "." || self == "-" || self == "_") }
}
