import ArgumentParser
import Foundation
import WaystationPacks

/// The destination of a command's output: a new file, or with `-` standard output.
struct OutputDestination: ExpressibleByArgument {
    /// The path as the user wrote it.
    let path: String

    init?(argument: String) { path = argument }

    /// Whether the output goes to standard output; the command's result then goes to standard error.
    var isStandardOutput: Bool { path == "-" }

    /// Writes the output.
    ///
    /// - Parameter make: Writes a file; for standard output a temporary one, which is copied when it is complete.
    /// - Returns: The value that `make` returns.
    /// - Throws: The error of `make`; `PackError` when standard output cannot be written.
    func write<Result>(_ make: (URL) throws -> Result) throws -> Result {
        guard isStandardOutput else { return try make(URL(argument: path)) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-\(UUID().uuidString)")
        do {
            // Private, since the file may hold a key.
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw PackError(.fileSystem, "cannot create a temporary file below \(folder.path)", cause: error)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "output")
        let result = try make(file)
        do {
            let source = try FileHandle(forReadingFrom: file)
            while let part = try source.read(upToCount: 1 << 20), !part.isEmpty {
                guard try StandardOutput.write(part) else { break }
            }
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.fileSystem, "the temporary file \(file.path) cannot be read", cause: error)
        }
        return result
    }
}
