public import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why an offline directory could not be opened or a file in it could not be read.
///
/// ``code`` is for programs; ``message`` is for people and gives the problem, its place, and what to do.
public struct OfflineDirectoryError: CodedError, Hashable {
    /// The kind of failure.
    ///
    /// More kinds may be added later.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case missing, notADirectory, invalidOptions, unreadable, changedWhileReading, damaged
        }
        private let value: Value

        /// The root of the offline directory does not exist.
        public static let missing = Code(value: .missing)
        /// The root of the offline directory is not a directory, or not a `file:` URL.
        public static let notADirectory = Code(value: .notADirectory)
        /// An option has an invalid value.
        public static let invalidOptions = Code(value: .invalidOptions)
        /// The system could not open or read the file; ``OfflineDirectoryError/errorNumber`` gives the reason.
        public static let unreadable = Code(value: .unreadable)
        /// The file shrank or was rewritten while it was being read.
        public static let changedWhileReading = Code(value: .changedWhileReading)
        /// The file's digest is not the expected one.
        public static let damaged = Code(value: .damaged)

        /// A short stable name, for logs and metrics.
        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its place, and what to do.
    public let message: String
    /// The `errno` of the system call that failed, or `nil` when no system call failed.
    public let errorNumber: Int32?

    static func unreadable(_ path: String, errorNumber: Int32) -> OfflineDirectoryError {
        let advice =
            switch errorNumber {
            case EACCES, EPERM: "give this process permission to read it and to search the directories above it"
            case EMFILE, ENFILE: "raise the limit of open files, or release answers that are no longer needed"
            default: "check the disk, then load again"
            }
        return OfflineDirectoryError(
            code: .unreadable,
            message: "cannot read \(shown(path)): \(systemText(errorNumber)) (errno \(errorNumber)); \(advice)",
            errorNumber: errorNumber
        )
    }

    static func changed(_ path: String) -> OfflineDirectoryError {
        OfflineDirectoryError(
            code: .changedWhileReading,
            message: "\(shown(path)) shrank or was rewritten while it was being read; load it again, and replace files "
                + "by renaming a complete new one over them",
            errorNumber: nil
        )
    }

    static func damaged(_ path: String) -> OfflineDirectoryError {
        OfflineDirectoryError(
            code: .damaged,
            message:
                "\(shown(path)) does not have the digest that its manifest gives; it is not served: install it again",
            errorNumber: nil
        )
    }

    private static func shown(_ path: String) -> String { "'\(path.shown(upTo: 1_000))'" }

    static func systemText(_ errorNumber: Int32) -> String {
        String(cString: strerror(errorNumber))
    }
}
