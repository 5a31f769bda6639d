import Waystation
import WaystationFoundation
public import WaystationHTTP
import WaystationRecording

/// A mistake in stubs or recordings, or a difference between the requests that were expected and those that were made.
///
/// A load that fails because of its stubs or its recording fails with `URLError.resourceUnavailable`. That error has the
/// message of this one, and holds it as `NSUnderlyingErrorKey`.
public struct StubError: CodedError, Hashable {
    /// The kind of an error.
    ///
    /// More kinds may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The URL pattern of a stub is not valid.
        public static let invalidPattern = Code(description: "invalidPattern")
        /// No stub answers a request.
        public static let noMatch = Code(description: "noMatch")
        /// A stub was asked more often than it may be.
        public static let askedTooOften = Code(description: "askedTooOften")
        /// A stub was asked less often than it must be.
        public static let askedTooSeldom = Code(description: "askedTooSeldom")
        /// A stub was asked before one that comes first.
        public static let outOfOrder = Code(description: "outOfOrder")
        /// The answer of a stub cannot be made.
        public static let unusableAnswer = Code(description: "unusableAnswer")
        /// The value of `WAYSTATION_RECORD` is neither a mode nor a method with a URL pattern.
        public static let invalidOverride = Code(description: "invalidOverride")
        /// The file of a recording is missing.
        public static let missingRecording = Code(description: "missingRecording")
        /// The file of a recording cannot be read, or is not a HAR.
        public static let damagedRecording = Code(description: "damagedRecording")
        /// The file of a recording cannot be written.
        public static let unwritableRecording = Code(description: "unwritableRecording")
        /// A recording has no entry for a request.
        public static let unrecorded = Code(description: "unrecorded")
        /// Entries of a recording were not used.
        public static let unusedEntries = Code(description: "unusedEntries")
        /// The network failed while an exchange was recorded.
        public static let cannotRecord = Code(description: "cannotRecord")
        /// An exchange was not recorded, because a secret would have been written.
        public static let secretFound = Code(description: "secretFound")
        /// A session of `URLSessionConfiguration.ofTest` was used outside of a test with stubs or a recording.
        public static let outsideOfTest = Code(description: "outsideOfTest")
        /// The trait `recorded` is on a test with arguments.
        public static let parameterized = Code(description: "parameterized")
        /// Two tests with the trait `recorded` have the same file.
        public static let sharedRecording = Code(description: "sharedRecording")
        /// Several errors, each on a line of the message.
        public static let several = Code(description: "several")
    }

    /// The kind of the error.
    public let code: Code
    /// Describes what differs, where, and what to do.
    public let message: String

    /// The error of a load, which has the message.
    func urlError(_ url: URL?) -> URLError {
        URLError(.resourceUnavailable, failing: url, message, underlying: self)
    }
}

extension StubError {
    static func invalidPattern(_ stub: Stub, _ reason: any Error) -> StubError {
        StubError(
            code: .invalidPattern,
            message: "the pattern of the stub \(stub) is not valid: \(reason)\nCorrect the pattern."
        )
    }

    /// The error of a request that no stub takes, with the stubs that come closest and their reasons.
    static func noMatch(_ request: StubbedRequest, nearest: [(stub: Stub, reasons: [String])]) -> StubError {
        let lines = nearest.map { "  \($0.stub): \($0.reasons.joined(separator: "; "))" }
        let found =
            lines.isEmpty ? "there are no stubs" : "the nearest:\n\(lines.joined(separator: "\n"))"
        let advice = "Add a stub for the request, or change one of the nearest stubs."
        return StubError(
            code: .noMatch,
            message: lines.isEmpty
                ? "no stub answers \(request): \(found). Add a stub for the request."
                : "no stub answers \(request); \(found)\n\(advice)"
        )
    }

    static func askedTooOften(_ stub: Stub, asked: Int) -> StubError {
        StubError(
            code: .askedTooOften,
            message: """
                expected \(stub) \(stub.expectedCount), was asked \(asked.times): correct the code under test, or allow more \
                requests with times(_:)
                """
        )
    }

    static func askedTooSeldom(_ stub: Stub, asked: Int) -> StubError {
        StubError(
            code: .askedTooSeldom,
            message: """
                expected \(stub) \(stub.expectedCount), was asked \(asked.times): correct the code under test, or remove \
                the stub
                """
        )
    }

    static func outOfOrder(_ request: StubbedRequest, before stub: Stub) -> StubError {
        StubError(
            code: .outOfOrder,
            message: """
                \(request) was asked before its turn: expected \(stub) first. Correct the order of the requests or of the \
                stubs, or make the stubs without inOrder
                """
        )
    }

    static func unusableAnswer(to request: StubbedRequest, _ reason: any Error) -> StubError {
        if let error = reason as? StubError { return error }
        return StubError(
            code: .unusableAnswer,
            message: """
                the stub cannot answer \(request): \(reason.explanation). Correct the answer of the stub, or the request
                """
        )
    }

    /// One error that contains all of these errors; nil if the list is empty.
    static func all(_ errors: [StubError]) -> StubError? {
        guard errors.count > 1 else { return errors.first }
        return StubError(code: .several, message: errors.map(\.message).joined(separator: "\n"))
    }
}

extension Error {
    /// The error as a part of a sentence: without the names of types, and without a full stop.
    var explanation: String {
        let text =
            switch self as any Error {
            case let error as RecordingError: error.message
            case EncodingError.invalidValue(_, let context): context.debugDescription
            case let error as CocoaError: error.filePath.map { "\($0): \(error.localizedDescription)" } ?? "\(error)"
            case let error as URLError: error.localizedDescription
            default: "\(self)"
            }
        return text.trimmingCharacters(in: ["."])
    }
}

extension Int {
    var times: String { self == 1 ? "1 time" : "\(self) times" }
}
