public import Foundation
import WaystationFileSystem
public import WaystationStorage

extension HARArchive {
    /// Reads a log from a file.
    ///
    /// - Parameters:
    ///   - file: The file to read.
    ///   - maximumSize: The largest size that is read, since the whole file must be in memory; 512 MiB by default.
    /// - Throws: ``RecordingError`` when the file cannot be read, is too large, or is not a HAR file.
    public init(contentsOf file: URL, maximumSize: ByteCount = .mebibytes(512)) throws(RecordingError) {
        let source: FileSource
        do { source = try FileSource(file) } catch {
            throw RecordingError(.unreadable, "\(file.path) cannot be opened", cause: error)
        }
        try self.init(reading: RecordInput(source), maximumSize: maximumSize)
    }

    /// Reads a log from bytes.
    ///
    /// - Throws: ``RecordingError`` that names the place of the error, such as `log.entries[3].request.url`.
    public init(_ data: Data, maximumSize: ByteCount = .mebibytes(512)) throws(RecordingError) {
        guard data.count <= maximumSize.bytes else { throw Self.tooLarge(maximumSize) }
        // A byte order mark is not part of JSON, but some programs write one.
        let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        do {
            self = try JSONDecoder().decode(HARArchive.self, from: Data(text))
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            let reason = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
            throw RecordingError(.damagedJSON, "the file is not valid JSON: \(reason ?? context.debugDescription)")
        } catch {
            throw RecordingError(.invalidHAR, "the file is not a valid HAR file: \(Self.explain(error))")
        }
    }

    init(reading input: RecordInput, maximumSize: ByteCount) throws(RecordingError) {
        guard let data = try input.readAll(atMost: maximumSize.bytes) else { throw Self.tooLarge(maximumSize) }
        try self.init(data, maximumSize: maximumSize)
    }

    private static func tooLarge(_ limit: ByteCount) -> RecordingError {
        RecordingError(.tooLarge, "the file has more than \(limit): split it, or give a higher limit")
    }

    private static func explain(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(path(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(path(context.codingPath)) is of another type: \(context.debugDescription)"
        case DecodingError.dataCorrupted(let context):
            "\(path(context.codingPath)): \(context.debugDescription)"
        default: "\(error)"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
