import ArgumentParser
import Foundation
import WaystationPacks

/// Where a command writes what it makes: a new file, or with `-` standard output.
struct OutputDestination: ExpressibleByArgument {
    /// As it was given.
    let path: String

    init?(argument: String) { path = argument }

    /// Whether standard output takes what is made; the command's result then goes to standard error.
    var isStandardOutput: Bool { path == "-" }

    /// Makes a file.
    ///
    /// - Parameter make: Writes the file; for standard output a temporary one, which is copied when it is complete.
    /// - Returns: What `make` returns.
    /// - Throws: What `make` throws; `PackError` when standard output cannot be written.
    func write<Result>(_ make: (URL) throws -> Result) throws -> Result {
        guard isStandardOutput else { return try make(URL(argument: path)) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-\(UUID().uuidString)")
        do {
            // Private, since a key may lie in it.
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw PackError(.fileSystem, "no temporary file can be made below \(folder.path)", cause: error)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "output")
        let result = try make(file)
        do {
            let source = try FileHandle(forReadingFrom: file)
            while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
                try FileHandle.standardOutput.write(contentsOf: part)
            }
        } catch {
            throw PackError(.fileSystem, "standard output cannot be written", cause: error)
        }
        return result
    }
}
