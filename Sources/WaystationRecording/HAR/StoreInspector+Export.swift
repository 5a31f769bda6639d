public import Foundation
public import WaystationStorage

extension StoreInspector {
    /// Writes the stored responses to a HAR file, without secrets; see ``HARWriter``.
    ///
    /// - Parameters:
    ///   - file: The file to make.
    ///   - scope: The responses to write. A HAR does not say which login a response belongs to, so the default is only
    ///     the responses that all logins share.
    ///   - redaction: The secrets that are left out.
    /// - Returns: How many responses were written.
    /// - Throws: `StoreError` when a response cannot be read or is damaged; ``RecordingError`` when the file cannot be
    ///   written. No file is left then.
    @discardableResult
    public func exportHAR(
        to file: URL,
        scope: ResponseScope = .partition(""),
        redaction: Redaction = .standard
    ) throws -> Int {
        let writer = try HARWriter(file)
        var count = 0
        for entry in try entries(in: scope) {
            guard let response = try response(entry) else { continue }
            try writer.append(HARArchive.Entry(response, redaction))
            count += 1
        }
        try writer.finish()
        return count
    }
}
