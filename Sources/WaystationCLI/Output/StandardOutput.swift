import ArgumentParser
import Foundation
import Logging
import WaystationPacks
import WaystationStorage

/// Standard output.
enum StandardOutput {
    /// Writes bytes.
    ///
    /// - Returns: False when the reader has closed the pipe: it wants no more bytes, which is not an error.
    /// - Throws: `PackError` when the bytes cannot be written, as on a full disk.
    @discardableResult
    static func write(_ data: Data) throws(PackError) -> Bool {
        var rest = data
        while !rest.isEmpty {
            let (count, code) = rest.withUnsafeBytes { bytes in
                (Foundation.write(STDOUT_FILENO, bytes.baseAddress, bytes.count), errno)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if code == EPIPE {
                return false
            } else if code != EINTR {
                let cause = FileError("write", "standard output", code: code)
                throw PackError(
                    cause.isFull ? .noSpace : .fileSystem,
                    "standard output cannot be written",
                    cause: cause
                )
            }
        }
        return true
    }
}

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

/// Writes the log of a command to standard error, a line each.
struct ConsoleLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // The events of loads are in the metadata; their message is always the same.
        let text = event.metadata?["event"].map { "\($0)" } ?? "\(event.message)"
        Console.writeError((event.level >= .warning ? "warning: \(text)" : text).printable)
    }

    /// A logger for a command.
    ///
    /// - Parameter isVerbose: Whether each load is a line, and not only problems.
    /// - Returns: The logger.
    static func logger(isVerbose: Bool) -> Logger {
        Logger(label: "waystation") { _ in ConsoleLog(logLevel: isVerbose ? .trace : .warning) }
    }
}

/// Numbers, tables and lists in a form for people.
enum Words {
    /// A size such as `999 B`, `11 kB`, `1.4 MB`, in powers of 1000.
    static func bytes(_ count: Int) -> String {
        var (value, unit) = (Double(count), "B")
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 {
            value /= 1000
            unit = next
        }
        guard unit != "B", value < 9.95 else { return "\(Int(value.rounded())) \(unit)" }
        return "\((value * 10).rounded() / 10) \(unit)"
    }

    /// A table with columns of equal width.
    static func table(_ rows: [[String]]) -> String {
        let widths = rows.reduce(into: [Int]()) { widths, row in
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cell.count)
            }
        }
        return rows.map { row in
            let line = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }
            return line.joined(separator: "  ")
        }
        .joined(separator: "\n")
    }
}
