import Foundation
import WaystationFileSystem
import WaystationRulesFile

/// A rules file on disk.
struct RulesDocument {
    /// The path as the user wrote it, for messages.
    let name: String
    /// The folder of the file, to which its paths are relative.
    let folder: URL
    private let text: String

    /// The largest size of a rules file, in bytes.
    private static let maximumSize = 4 << 20

    /// Reads the file.
    ///
    /// - Throws: `GatewayFailure` when it cannot be read.
    init(_ path: String) throws(GatewayFailure) {
        name = path.printable
        let url = URL(argument: path)
        folder = url.deletingLastPathComponent()
        let data: Data
        do { data = try Data(readingFile: url, limit: Self.maximumSize) } catch {
            guard error.code != EOVERFLOW else {
                throw .unreadable("\(name) has more than \(Self.maximumSize) bytes: a rules file may not")
            }
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: url.path(percentEncoded: false), isDirectory: &isFolder)
            guard exists else { throw .unreadable("\(name) does not exist: check the path") }
            guard !isFolder.boolValue else { throw .unreadable("\(name) is a directory: give the rules file") }
            throw .unreadable("\(name) cannot be read: \(error)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
            throw .invalidRules("\(name):\(line): the line is not UTF-8 text: save the file in UTF-8")
        }
        self.text = text
    }

    /// Reads the rules.
    ///
    /// - Parameter surroundings: The directories that the command line provides.
    /// - Returns: The rules.
    /// - Throws: All mistakes, those of directories that do not exist included.
    func rules(beside surroundings: RulesFile.Surroundings) throws(RulesFile.Problems) -> RulesFile {
        let file = try RulesFile(text, beside: surroundings)
        let missing = file.rules.flatMap { $0.sources ?? [] }.compactMap { problem($0) }
        if !missing.isEmpty { throw RulesFile.Problems(problems: missing) }
        return file
    }

    private func problem(_ source: RuleSetting.Source) -> RulesFileProblem? {
        guard case .files(let directory, _) = source else { return nil }
        let path = directory.url(relativeTo: folder).path(percentEncoded: false)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return nil }
        let reason = FileManager.default.fileExists(atPath: path) ? "is not a directory" : "does not exist"
        return RulesFileProblem(directory.place, "the directory \(path) \(reason)")
    }
}
