import Foundation
import Glibc
import HTTPTypes
import WaystationStorage

/// A real directory of web files in a folder of its own, removed at the end.
final class TemporarySite: Sendable {
    /// The folder around the site.
    let enclosure: URL
    let root: URL

    init(_ files: [String: String] = [:]) throws {
        enclosure = FileManager.default.temporaryDirectory.appending(path: "waystation-files-\(UUID().uuidString)")
        root = enclosure.appending(path: "site")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for (path, text) in files { try write(text, to: path) }
    }

    deinit {
        try? FileManager.default.removeItem(at: enclosure)
    }

    func path(_ path: String) -> String {
        root.path(percentEncoded: false) + "/" + path
    }

    func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    /// Writes in place, so that the file keeps its inode.
    func write(_ data: Data, to path: String) throws {
        let file = URL(filePath: self.path(path))
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Sets the time of the last modification.
    func touch(_ path: String, seconds: Int, nanoseconds: Int = 0) {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        utimensat(AT_FDCWD, self.path(path), [time, time], 0)
    }

    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self.path(path), withDestinationPath: target)
    }

    /// Opens the site with a clock so far ahead that every file counts as settled.
    func directory(_ options: OfflineDirectory.Options = .init()) throws -> OfflineDirectory {
        try OfflineDirectory(root, options: options, now: { .lateEnough })
    }
}

extension FileTime {
    /// 2100-01-01.
    static let lateEnough = FileTime(seconds: 4_102_444_800)
}

extension FileOutcome {
    var answer: FileAnswer? {
        if case .answer(let answer) = self { answer } else { nil }
    }
}

extension FileBody {
    /// All the bytes, read in odd sizes so that pieces never fit evenly.
    func bytes() throws -> Data {
        switch self {
        case .empty: return Data()
        case .data(let data): return data
        case .slice(let slice):
            var bytes = Data()
            while bytes.count < slice.length { bytes += try slice.read(at: bytes.count, count: 4099) }
            return bytes
        }
    }

    func text() throws -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }
}
