import Foundation
import WaystationHTTP
import WaystationRecording

extension StubError {
    static func invalidOverride(_ value: String) -> StubError {
        StubError(
            code: .invalidOverride,
            message: """
                \(RecordingOverride.variable)=\(value) is not valid: expected \
                \(RecordingMode.allCases.map(\.rawValue).joined(separator: ", ")), or a method and a URL pattern such as \
                `GET https://api.example/users/*`
                """
        )
    }

    static func notAFile(_ problem: String) -> StubError {
        StubError(code: .missingRecording, message: "the recording \(problem)")
    }

    static func missingRecording(_ file: URL) -> StubError {
        StubError(
            code: .missingRecording,
            message: """
                there is no recording to replay at \(file.path(percentEncoded: false)): run the test once with \
                \(RecordingOverride.variable)=record and a network, and commit the file
                """
        )
    }

    static func damagedRecording(_ file: URL, _ reason: any Error) -> StubError {
        StubError(
            code: .damagedRecording,
            message: """
                \(file.lastPathComponent) cannot be replayed: \(reason.explanation). Restore the file, or record it again with \
                \(RecordingOverride.variable)=record
                """
        )
    }

    static func unwritableRecording(_ reason: any Error) -> StubError {
        StubError(
            code: .unwritableRecording,
            message: "the recorded exchanges cannot be written: \(reason.explanation)"
        )
    }

    static func noEntry(
        _ request: StubbedRequest,
        nearest: [(name: String, reasons: [String])],
        of file: URL
    ) -> StubError {
        let advice = "Record it with \(RecordingOverride.variable)=\"\(request.method) \(request.plainURL)\""
        let lines = nearest.map { "  \($0.name): \($0.reasons.joined(separator: "; "))\n" }.joined()
        let found = nearest.isEmpty ? ", which has no entries. " : "; the nearest entries:\n\(lines)"
        return StubError(
            code: .unrecorded,
            message: "\(file.lastPathComponent) has no entry for \(request)\(found)\(advice)"
        )
    }

    static func exhaustedEntries(_ request: StubbedRequest, count: Int, of file: URL) -> StubError {
        StubError(
            code: .askedTooOften,
            message: """
                \(request) was made more often than \(file.lastPathComponent) has it (\(count.times)): correct the code \
                under test, or record again with \(RecordingOverride.variable)=record
                """
        )
    }

    static func unusableEntry(_ entry: RecordedEntry, of file: URL, _ reason: ImportRefusal) -> StubError {
        StubError(
            code: .unusableAnswer,
            message: """
                the entry \(entry.name) of \(file.lastPathComponent) cannot be replayed: \(reason.detail). Record \
                again with \(RecordingOverride.variable)=record
                """
        )
    }

    static func unusedEntries(_ names: [String], of file: URL) -> StubError {
        let lines = names.map { "  \($0)" }.joined(separator: "\n")
        return StubError(
            code: .unusedEntries,
            message: """
                the code under test did not make \(names.count == 1 ? "1 request" : "\(names.count) requests") that \
                \(file.lastPathComponent) has; correct the code, or record again with \
                \(RecordingOverride.variable)=record:
                \(lines)
                """
        )
    }

    static func cannotRecord(_ request: StubbedRequest, _ reason: any Error) -> StubError {
        StubError(
            code: .cannotRecord,
            message: """
                \(request) cannot be recorded, because the network failed: \(reason.explanation). Record with a network
                """
        )
    }

    static func secretFound(_ secret: String, of entry: HARArchive.Request, in part: String) -> StubError {
        let name = "\(entry.method) \(entry.url.shownURL)"
        return StubError(
            code: .secretFound,
            message: """
                \(name) was not recorded, because a secret of this run, \(secret), is also in \(part). If \(part) has it \
                under a name, add that name to the redaction; if the value is no secret, take its name out of the redaction
                """
        )
    }

    /// Says that a file was not replaced.
    static func kept(_ file: URL) -> String {
        "\(file.lastPathComponent) keeps its previous entries, because the run that should replace them failed"
    }
}

extension RecordingError {
    static func replaced(_ file: URL) -> RecordingError {
        RecordingError(
            .unwritable,
            "\(file.lastPathComponent) was changed by another recording or program since this recording was opened; give "
                + "each recording a file of its own"
        )
    }
}

extension StubbedRequest {
    /// The URL without its query, which may have secrets.
    fileprivate var plainURL: String { url.absoluteString.shownURL }
}
