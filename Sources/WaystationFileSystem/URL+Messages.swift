package import Foundation
import WaystationFields

extension URL {
    /// The URL for messages and logs, without user, password, query and fragment, which may be secret,
    /// and cut if it is long.
    package var shown: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "the URL" }
        components.user = nil
        components.password = nil
        components.query = nil
        components.fragment = nil
        return components.string?.shown(upTo: 2_000) ?? "the URL"
    }

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
