import Foundation

@testable import WaystationArchive

/// A temporary directory that is deleted with the last reference to this object.
final class Scratch: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "waystation-archive-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    /// Writes a file and creates the directories above it.
    @discardableResult
    func write(_ data: Data, to path: String) throws -> URL {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file
    }

    /// Everything below a directory, by path: the bytes of a file, no bytes for a directory (its path ends in a slash),
    /// the target of a link.
    func tree(_ name: String) throws -> [String: Data] { try Tree.read(path(name)) }
}

/// The files and directories below one directory.
enum Tree {
    static func read(_ root: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        guard let walk = FileManager.default.enumerator(atPath: root) else { return found }
        while let path = walk.nextObject() as? String {
            let type = walk.fileAttributes?[.type] as? FileAttributeType
            if type == .typeDirectory {
                found[path + "/"] = Data()
            } else if type == .typeSymbolicLink {
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: root + "/" + path)
                found[path] = Data("-> \(target)".utf8)
            } else if type == .typeRegular {
                found[path] = try Data(contentsOf: URL(filePath: root + "/" + path))
            } else {
                // Reading a pipe would wait for a writer.
                found[path] = Data("a special file".utf8)
            }
        }
        return found
    }
}

extension ZipArchive {
    /// The bytes of all entries, in the form of ``Tree``.
    func contents() throws -> [String: Data] {
        var found: [String: Data] = [:]
        for entry in entries {
            found[entry.isDirectory ? entry.path + "/" : entry.path] = try read(entry)
        }
        for directory in directories { found[directory + "/"] = Data() }
        return found
    }
}

extension ZipWriter {
    /// The bytes of an archive.
    static func bytes(
        limits: ZipLimits = ZipLimits(),
        wideBound: Int = Int(UInt32.max),
        _ build: (ZipWriter) throws -> Void
    ) throws -> Data {
        var data = Data()
        let writer = ZipWriter(limits: limits, wideBound: wideBound) { data.append(contentsOf: $0) }
        try build(writer)
        try writer.finish()
        return data
    }
}
