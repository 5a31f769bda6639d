package import Foundation
import WaystationFields

extension URL {
    /// The URL for the message of an error, without user, password, query and fragment, which may be secret.
    package var shown: String { absoluteString.shownURL }

    /// The problem of a URL that should name a file or a folder, in the words of a message; nil for a file URL.
    ///
    /// Other URLs have paths too, so that files would be made there.
    package var fileURLProblem: String? {
        isFileURL ? nil : "\(shown) is not a file URL: give it as URL(filePath:)"
    }

    /// Refuses a URL that is not a file URL.
    ///
    /// - Parameter operation: The operation on a file that the URL is for, such as `create`.
    /// - Throws: `FileError` if this is not a file URL.
    package func checkIsFile(for operation: String) throws(FileError) {
        guard isFileURL else {
            throw FileError(operation, shown, code: EINVAL, because: "it is not a file URL: give it as URL(filePath:)")
        }
    }
}
